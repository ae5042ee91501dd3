package sweep

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/results"
	"aqmlab/results/response"
)

// Board tells how far the sweeps of a store are, to one who asks again and again. It
// only reads. What sweeps ask for does not change, and stored points stay, so that both
// are looked up once.
type Board struct {
	store Store
	mu    sync.Mutex
	known map[string]*followed // by the name of the sweep
}

// NewBoard makes the board of a store, whose folder need not be there yet.
func NewBoard(s Store) *Board { return &Board{store: s} }

// List says of all sweeps how far they are, the latest first. One that cannot be read
// does not hide the others.
func (b *Board) List() ([]results.SweepStatus, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	names, err := b.store.Sweeps()
	if err != nil {
		return nil, err
	}
	known := make(map[string]*followed)
	all := make([]results.SweepStatus, 0, len(names))
	for _, name := range slices.Backward(names) {
		status := results.SweepStatus{Name: name}
		f, err := b.follow(name)
		if err == nil {
			known[name] = f
			status, err = f.status(time.Now())
		}
		if err != nil {
			status = results.SweepStatus{Name: name, Broken: err.Error()}
		}
		all = append(all, status)
	}
	b.known = known
	return all, nil
}

// Page writes what a sweep has measured so far as one self-contained page. The error for
// a name that List does not have wraps [fs.ErrNotExist].
func (b *Board) Page(name string, w io.Writer) error {
	names, err := b.store.Sweeps()
	if err != nil {
		return err
	}
	if !slices.Contains(names, name) {
		return fmt.Errorf("%w: %q: %w", ErrNoSweep, name, fs.ErrNotExist)
	}
	sw, err := b.store.Sweep(name)
	if err != nil {
		return err
	}
	set, err := b.store.Response(sw)
	if err != nil {
		return err
	}
	view, err := response.New(set, response.Options{Title: "Sweep " + name})
	if err != nil {
		return err
	}
	return view.WriteHTML(w)
}

// followed is a sweep that was looked at before.
type followed struct {
	store   Store
	name    string
	sweep   *Sweep // with one point a key
	written time.Time
	grid    grid
	stored  []time.Time // of each point; zero: it was not there yet
	failed  map[string]reason
}

// reason is why a point failed, as it was read from a file of that time.
type reason struct {
	text    string
	written time.Time
}

// follow opens a sweep, unless it is known.
func (b *Board) follow(name string) (*followed, error) {
	info, err := os.Stat(filepath.Join(b.store.sweepDir(name), sweepFile))
	if err != nil {
		return nil, err
	}
	if f := b.known[name]; f != nil && f.written.Equal(info.ModTime()) {
		return f, nil
	}
	w, err := b.store.Sweep(name)
	if err != nil {
		return nil, err
	}
	w.Points = w.first()
	return &followed{
		store: b.store, name: name, sweep: w, written: info.ModTime(), grid: w.grid(),
		stored: make([]time.Time, len(w.Points)), failed: make(map[string]reason),
	}, nil
}

// maxReasons is how many failures are told with their reasons.
const maxReasons = 200

// status looks at the points that were not there before.
func (f *followed) status(now time.Time) (results.SweepStatus, error) {
	w := f.sweep
	s := results.SweepStatus{Name: f.name, Lab: w.Lab, Runtime: w.Runtime, Created: w.Created, Points: len(w.Points)}
	if err := f.readFailed(); err != nil {
		return s, err
	}
	cells := f.grid.empty()
	since := now // when the first of the points that are being measured began
	for i, p := range w.Points {
		state, begun := f.look(i)
		switch state {
		case results.CellStored:
			s.Stored++
		case results.CellMeasuring:
			s.Measuring++
			if begun.Before(since) {
				since = begun
			}
		case results.CellFailed:
			s.Failed++
			if len(s.Failures) < maxReasons {
				at := f.grid.cells[i]
				s.Failures = append(s.Failures, results.SweepFailure{Row: at.row, Column: at.column, Label: w.label(p), Reason: f.failed[p.Key].text})
			}
		}
		f.grid.set(cells, i, state)
	}
	f.grid.show(&s, cells)
	if s.Measuring > 0 {
		s.Left = pace{w.Created, since, now}.left(f.stored, s.Points-s.Stored-s.Failed).Seconds()
	}
	return s, nil
}

// look is the state of a point, and since when it is being measured, if it is.
func (f *followed) look(i int) (state results.CellState, begun time.Time) {
	key := f.sweep.Points[i].Key
	if !f.stored[i].IsZero() {
		return results.CellStored, begun
	}
	if info, err := os.Stat(filepath.Join(f.store.Folder(key), figuresFile)); err == nil {
		f.stored[i] = info.ModTime()
		return results.CellStored, begun
	}
	if begun, held := held(f.store.lockFile(key)); held {
		return results.CellMeasuring, begun
	}
	if _, failed := f.failed[key]; failed {
		return results.CellFailed, begun
	}
	return results.CellWaiting, begun
}

// held tells whether a process has a lock, and since when. Who wants the lock at the very
// moment at which this looks tries again, as it does for that of another process.
func held(path string) (since time.Time, is bool) {
	f, err := os.Open(path)
	if err != nil {
		return since, false
	}
	defer f.Close()
	if !errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK) {
		return since, false // a killed process left it
	}
	info, err := f.Stat()
	if err != nil {
		return since, false
	}
	return info.ModTime(), true
}
