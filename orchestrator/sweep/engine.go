package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Engine is where the points of sweeps are measured.
type Engine struct {
	// Run measures points of a stored sweep, or has others do so, until each is stored or
	// has failed. Points that are stored are passed over.
	Run func(ctx context.Context, j Job) error
	// Cancel ends what goes on after Run was interrupted, and says how many jobs that
	// were. It is nil where nothing does.
	Cancel func(ctx context.Context, w *Sweep) (jobs int, err error)
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
	Jobs  int       // points at once in virtual time; zero: one a CPU here, and one on clusters
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
	todo, err := s.Todo(w, w.Measurements())
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

// Todo lists those of some points that are neither stored nor failed when they were last
// tried.
func (s Store) Todo(w *Sweep, points []Point) (todo []Point, err error) {
	for _, p := range points {
		whole, err := s.Whole(p.Key)
		if err != nil {
			return nil, err
		}
		if whole {
			// One that was killed right after it stored the point left its lock.
			if err := os.Remove(s.lockFile(p.Key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("looking for what is to be measured: %w", err)
			}
			continue
		}
		failed, err := w.Failure(p.Key)
		if err != nil {
			return nil, err
		}
		if failed == nil {
			todo = append(todo, p)
		}
	}
	return todo, nil
}

// Cancelled is what [Store.Cancel] came to.
type Cancelled struct {
	Jobs int `json:"jobs"` // that were waiting or running
	Status
}

// Cancel ends what an engine has going on for a sweep.
func (s Store) Cancel(ctx context.Context, e Engine, w *Sweep) (Cancelled, error) {
	jobs, err := e.Cancel(ctx, w)
	if err != nil {
		return Cancelled{}, fmt.Errorf("cancelling sweep %s: %w", w.Name, err)
	}
	status, err := s.Status(w)
	return Cancelled{jobs, status}, err
}
