// Package engine has the table of the engines that measure sweeps, and remembers which
// one goes on with a sweep by itself.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"aqmlab/kind"
	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/cluster"
	"aqmlab/orchestrator/sweep/slurm"
)

// Table is the table of engines. To add one: a package and a row.
func Table() kind.Table[struct{}, sweep.Engine] {
	return kind.Table[struct{}, sweep.Engine]{
		kind.Row("local", "this machine", struct{}{}, func(struct{}, struct{}) (sweep.Engine, error) { return sweep.Local(), nil }),
		kind.Row("slurm", "job arrays of a Slurm cluster", slurm.Defaults(), func(p slurm.Params, _ struct{}) (sweep.Engine, error) {
			c, err := slurm.New(p)
			return cluster.Engine(c, p.Policy()), err
		}),
	}
}

// New is the engine of that name with these parameters over its defaults. One that goes
// on when it is interrupted is noted with the sweeps that it is given, so that others can
// follow.
func New(name string, params map[string]any) (sweep.Engine, error) {
	row, err := Table().Find(name)
	if err != nil {
		return sweep.Engine{}, kind.Unknown("engine", name, Table().Names())
	}
	e, err := kind.Table[struct{}, sweep.Engine]{row}.New(name, params, struct{}{})
	if err != nil || e.Cancel == nil {
		return e, err
	}
	run := e.Run
	e.Run = func(ctx context.Context, j sweep.Job) error {
		if err := note(j.Sweep, saved{name, params, j.Jobs}); err != nil {
			return err
		}
		return run(ctx, j)
	}
	return e, nil
}

// ErrNone says that a sweep was given to no engine that goes on by itself.
var ErrNone = errors.New("it was not given to a cluster")

// Of is the engine that a sweep was given to last, and how many points it measures at
// once. The error where that was this machine wraps [ErrNone].
func Of(w *sweep.Sweep) (e sweep.Engine, jobs int, err error) {
	s, err := read(w)
	if errors.Is(err, fs.ErrNotExist) {
		return e, 0, fmt.Errorf("sweep %s: %w: nothing of it goes on by itself", w.Name, ErrNone)
	}
	if err == nil {
		e, err = New(s.Engine, s.Parameters)
	}
	if err != nil {
		return e, 0, fmt.Errorf("reading the engine of sweep %s: %w", w.Name, err)
	}
	return e, s.Jobs, nil
}
