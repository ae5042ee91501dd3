// Package board tells how far the sweeps of a store are, to one who asks again and again.
package board

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"aqmlab/orchestrator/sweep"
	"aqmlab/results"
	"aqmlab/results/response"
)

// Board tells of the sweeps of a store. It only reads. What sweeps ask for does not
// change, and stored points stay, so that both are looked up once.
type Board struct {
	store sweep.Store
	mu    sync.Mutex
	known map[string]*followed // by the name of the sweep
}

// New makes the board of a store, whose folder need not be there yet.
func New(s sweep.Store) *Board { return &Board{store: s} }

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
		return fmt.Errorf("%w: %q: %w", sweep.ErrNoSweep, name, fs.ErrNotExist)
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

// follow opens a sweep, unless it is known.
func (b *Board) follow(name string) (*followed, error) {
	written, err := b.store.Written(name)
	if err != nil {
		return nil, err
	}
	if f := b.known[name]; f != nil && f.written.Equal(written) {
		return f, nil
	}
	w, err := b.store.Sweep(name)
	if err != nil {
		return nil, err
	}
	points := w.Measurements()
	return &followed{
		store: b.store, name: name, sweep: w, points: points, written: written, grid: newGrid(w.Axes, points),
		stored: make([]time.Time, len(points)), failed: make(map[string]reason),
	}, nil
}
