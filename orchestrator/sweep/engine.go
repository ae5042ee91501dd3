package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"aqmlab/kind"
	"aqmlab/orchestrator/sweep/slurm"
	"aqmlab/results/store"
)

// Engine is where the points of sweeps are measured.
type Engine struct {
	// Run measures points of a stored sweep, or has others do so, until each is stored or
	// has failed. Points that are stored are passed over.
	Run func(ctx context.Context, j Job) error
	// Cancel ends what goes on after Run was interrupted, and says how many jobs that
	// were. It is nil where nothing does.
	Cancel func(ctx context.Context, w *Sweep) (jobs int, err error)

	name   string
	params map[string]any // as they were given
}

// Engines is the table of engines. To add one: a package and a row.
func Engines() kind.Table[struct{}, Engine] {
	return kind.Table[struct{}, Engine]{
		kind.Row("local", "this machine", struct{}{}, func(struct{}, struct{}) (Engine, error) { return Engine{Run: runLocal}, nil }),
		kind.Row("slurm", "job arrays of a Slurm cluster", slurm.Defaults(), func(p slurm.Params, _ struct{}) (Engine, error) {
			c, err := slurm.New(p)
			return onCluster(c, p.Policy()), err
		}),
	}
}

// NewEngine is the engine of that name with these parameters over its defaults.
func NewEngine(name string, params map[string]any) (Engine, error) {
	row, err := Engines().Find(name)
	if err != nil {
		return Engine{}, kind.Unknown("engine", name, Engines().Names())
	}
	e, err := kind.Table[struct{}, Engine]{row}.New(name, params, struct{}{})
	e.name, e.params = name, params
	return e, err
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
	todo, err := s.Todo(w)
	if err != nil {
		return err
	}
	if len(todo) > 0 {
		if err := w.saveEngine(e, o); err != nil {
			return err
		}
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
func (s Store) Todo(w *Sweep) ([]Point, error) { return s.todo(w, w.first()) }

func (s Store) todo(w *Sweep, points []Point) (todo []Point, err error) {
	for _, p := range points {
		if s.Has(p.Key) {
			// One that was killed right after it stored the point left its lock.
			if err := os.Remove(s.lockFile(p.Key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("looking for what is to be measured: %w", err)
			}
			continue
		}
		failed, err := w.failure(p.Key)
		if err != nil {
			return nil, err
		}
		if failed == nil {
			todo = append(todo, p)
		}
	}
	return todo, nil
}

// engineFile says which engine works on for a sweep, so that others can follow.
const engineFile = "engine.json"

// savedEngine is its contents.
type savedEngine struct {
	Engine     string         `json:"engine"`
	Parameters map[string]any `json:"parameters,omitempty"`
	Jobs       int            `json:"jobs"`
}

// saveEngine notes an engine that goes on when Run is interrupted.
func (w *Sweep) saveEngine(e Engine, o Options) error {
	if e.Cancel == nil {
		return nil
	}
	text, err := json.MarshalIndent(savedEngine{e.name, e.params, o.Jobs}, "", "  ")
	if err == nil {
		err = store.WriteFile(filepath.Join(w.dir, engineFile), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("noting the engine of sweep %s: %w", w.Name, err)
	}
	return nil
}

// ErrNoEngine says that a sweep was given to no engine that goes on by itself.
var ErrNoEngine = errors.New("it was not given to a cluster")

// Engine is the one that a sweep was given to last, and how many points it measures at
// once. The error where that was this machine wraps [ErrNoEngine].
func (w *Sweep) Engine() (e Engine, jobs int, err error) {
	var saved savedEngine
	text, err := os.ReadFile(filepath.Join(w.dir, engineFile))
	if errors.Is(err, fs.ErrNotExist) {
		return e, 0, fmt.Errorf("sweep %s: %w: nothing of it goes on by itself", w.Name, ErrNoEngine)
	}
	if err == nil {
		err = json.Unmarshal(text, &saved)
	}
	if err == nil {
		for name, value := range saved.Parameters {
			saved.Parameters[name] = asGiven(value)
		}
		e, err = NewEngine(saved.Engine, saved.Parameters)
	}
	if err != nil {
		return e, 0, fmt.Errorf("reading the engine of sweep %s: %w", w.Name, err)
	}
	return e, saved.Jobs, nil
}

// asGiven is a parameter as a command line gives it: text, or a list.
func asGiven(value any) any {
	switch v := value.(type) {
	case string:
		return kind.Text(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = asGiven(v[i])
		}
		return list
	}
	return value
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
