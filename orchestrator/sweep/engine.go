package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"aqmlab/kind"
	"aqmlab/labs"
)

// Engine is where the points of sweeps are measured: a row of [Engines].
type Engine struct {
	Name, Doc string
	// Run measures points of a stored sweep, or has others do so, until each is stored or
	// has failed. Points that are stored are passed over.
	Run func(ctx context.Context, j Job) error
}

// Engines is the table of engines. To add one: a file and a row.
func Engines() []Engine {
	return []Engine{
		{Name: "local", Doc: "this machine", Run: runLocal},
	}
}

// EngineNames lists the engines.
func EngineNames() (names []string) {
	for _, e := range Engines() {
		names = append(names, e.Name)
	}
	return names
}

// FindEngine finds an engine by its name.
func FindEngine(name string) (Engine, error) {
	for _, e := range Engines() {
		if e.Name == name {
			return e, nil
		}
	}
	return Engine{}, kind.Unknown("engine", name, EngineNames())
}

// Job is points of a sweep that an engine is to have measured.
type Job struct {
	Store  Store
	Sweep  *Sweep
	Points []Point // one a key
	Options
}

// Options say how a sweep is run.
type Options struct {
	Jobs  int       // points at once in virtual time; zero: one a CPU
	Root  string    // folder of the state of all labs; empty: that of the environment
	Log   io.Writer // gets what helper processes complain about; may be nil
	Retry bool      // failed points, too
	Watch func(Progress)
}

// ErrFailed is wrapped by the error of a sweep some of whose points failed.
var ErrFailed = errors.New("points failed")

// Run stores a sweep and has an engine measure the points that are not there. After an
// error, or when ctx ends, what is measured stays, and another Run goes on with the rest.
func (s Store) Run(ctx context.Context, e Engine, w *Sweep, o Options) error {
	if err := s.Save(w); err != nil {
		return err
	}
	if o.Retry {
		if err := w.forget(); err != nil {
			return err
		}
	}
	todo, err := s.Todo(w)
	if err != nil {
		return err
	}
	if len(todo) > 0 {
		if err := e.Run(ctx, Job{Store: s, Sweep: w, Points: todo, Options: o}); err != nil {
			return err
		}
	}
	failed, err := s.Failures(w)
	if err == nil && len(failed) > 0 {
		err = fmt.Errorf("%w: %d of sweep %s", ErrFailed, len(failed), w.Name)
	}
	return err
}

// Todo lists the points, one a key, that are neither stored nor failed when they were
// last tried.
func (s Store) Todo(w *Sweep) ([]Point, error) {
	failed, err := s.Failures(w)
	if err != nil {
		return nil, err
	}
	left := make(map[string]bool)
	for _, f := range failed {
		left[f.Key] = true
	}
	var todo []Point
	for _, p := range w.first() {
		switch {
		case s.Has(p.Key):
			// One that was killed right after it stored the point left its lock.
			if err := os.Remove(s.lockFile(p.Key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("looking for what is to be measured: %w", err)
			}
		case !left[p.Key]:
			todo = append(todo, p)
		}
	}
	return todo, nil
}

// Units are points as a [Pool] measures them.
func (w *Sweep) Units(points []Point) (units []Unit) {
	for _, p := range points {
		units = append(units, Unit{
			Coord: p.Coord, Key: p.Key, Set: strconv.Itoa(p.Lab), Cost: 1,
			Lab: func() (*labs.Lab, error) { return w.lab(p.Lab) },
		})
	}
	return units
}

// label names a point by its settings.
func (w *Sweep) label(p Point) string {
	text := []string{p.Coord.String()}
	for i, a := range w.Axes {
		if a.Key != loadKey {
			text = append(text, a.Key+" "+p.Values[i])
		}
	}
	return strings.Join(text, ", ")
}

// runLocal measures on this machine.
func runLocal(ctx context.Context, j Job) error {
	labels := make(map[string]string)
	for _, p := range j.Points {
		labels[p.Key] = j.Sweep.label(p)
	}
	units := j.Sweep.Units(j.Points)
	m := &Meter{Label: func(u Unit) string { return labels[u.Key] }, Quiet: j.Sweep.runtime().Facts().Virtual, Watch: j.Watch}
	m.Begin(units)
	pool := Pool{Store: j.Store, Runtime: j.Sweep.runtime(), Jobs: j.Jobs, Root: j.Root, Log: j.Log}
	var broken error
	err := pool.Run(ctx, units, func(e Event) {
		m.Take(e)
		if e.Err != nil && broken == nil {
			broken = j.Sweep.noteFailure(e.Unit, e.Err)
		}
	})
	return errors.Join(err, broken)
}
