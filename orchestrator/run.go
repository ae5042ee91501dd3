// Package orchestrator is the conductor: it plans the points of a lab, chooses a
// runtime from a table, has it run the points, and stores what was measured.
package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
	"aqmlab/results/report"
	"aqmlab/results/store"
	"aqmlab/trafficgen"
)

// RunOptions say how a lab is run.
type RunOptions struct {
	Runtime  Runtime       // where the hosts run; empty: Auto
	Runtimes []backend.Row // that there are; nil: those of [Runtimes]
	Jobs     int           // points that run at once in virtual time; zero: one a CPU
	Out      string        // folder that the run is stored below
	Root     string        // folder of the state of all labs; empty: that of the environment, see journal.RootVar
	Log      io.Writer     // gets what helper processes complain about, several at a time; may be nil
	Watcher  Watcher       // is told how it goes on

	// Resume is a run that ended early, which is to have the points that it lacks;
	// nil: a new run. The lab must be the run's own.
	Resume *store.Run
}

// Run runs every point of the lab, scheme after scheme on the same traces, and
// stores them. It returns the run, which is partial if ctx ended or a point
// failed after others were done; the error then says why. A run that cannot be
// resumed gives [ErrNotResumed].
func Run(ctx context.Context, lab *labs.Lab, o RunOptions) (*store.Run, error) {
	points, err := plan(lab)
	if err != nil {
		return nil, err
	}
	row, err := o.row(lab)
	if err != nil {
		return nil, err
	}
	if o.Resume != nil {
		all := len(points)
		if lab, points, err = takeUp(lab, points, row, o.Resume); err != nil {
			return nil, err
		}
		o.Watcher.Note(fmt.Sprintf("%d of %d points are there already", all-len(points), all))
		if len(points) == 0 {
			return complete(o.Resume)
		}
	}
	for _, line := range lab.Unsupported(row.Hosts) {
		o.Watcher.Note("warning: " + line)
	}
	jobs := min(cmp.Or(o.Jobs, runtime.NumCPU()), len(points))
	b, err := row.Open(ctx, lab, backend.Options{Root: o.Root, Log: o.Log, Jobs: jobs, Note: o.Watcher.Note})
	if err != nil {
		return nil, err
	}
	b.Row, b.Manifest.Runtime = row, row.Name
	run, err := o.runOn(ctx, b, lab, points)
	return run, errors.Join(err, b.Close(context.WithoutCancel(ctx)))
}

// row is the runtime that was asked for, or that of the run to be resumed, or the one
// that suits the lab, of which the watcher is told why.
func (o RunOptions) row(lab *labs.Lab) (backend.Row, error) {
	rows := o.Runtimes
	if rows == nil {
		rows = Runtimes()
	}
	asked := cmp.Or(o.Runtime, Auto)
	if asked == Auto && o.Resume != nil {
		asked = Runtime(o.Resume.Manifest.Runtime)
	}
	if asked == Auto {
		row, why := choose(rows, lab, os.Geteuid() == 0)
		o.Watcher.Note(why)
		return row, nil
	}
	row := first(rows, asked.names)
	if row.Open == nil {
		return backend.Row{}, fmt.Errorf("there is no runtime %q here", asked)
	}
	return row, nil
}

// runOn runs points on a backend, as many at once as it can, and stores them in the
// order of the plan, whole or, after an error, those that were done by then.
func (o RunOptions) runOn(ctx context.Context, b *backend.Backend, lab *labs.Lab, points []backend.Point) (*store.Run, error) {
	writer, err := newWriter(lab, b.Manifest, o)
	if err != nil {
		return nil, err
	}
	watcher := newPublisher(o.Watcher, writer.Publish)
	measure := func(ctx context.Context, i int) (results.Point, error) {
		p, named := points[i], name(points, i, b)
		watcher.Begin(named)
		measured, err := b.Measure(ctx, p, func(s backend.Progress) { watcher.Progress(named, s) })
		if err != nil {
			return results.Point{}, fmt.Errorf("running %v: %w", p.Coord, err)
		}
		watcher.End(named, measured)
		return measured, nil
	}
	if err := (series{b.Jobs, len(points), measure, writer.Add}).run(ctx); err != nil {
		return abort(writer, err)
	}
	return finish(writer)
}

// plan lists the points: all schemes of a load and seed in a row, so that what
// changes on the machine over time changes for all of them.
func plan(lab *labs.Lab) ([]backend.Point, error) {
	var points []backend.Point
	for _, load := range lab.Workload.Load {
		for _, seed := range lab.Seeds {
			flows, err := trafficgen.Trace(lab.Traffic(load, seed))
			if err != nil {
				return nil, err
			}
			for _, s := range lab.Schemes {
				points = append(points, backend.Point{Coord: results.Coord{Scheme: s.Name, Load: load, Seed: seed}, Flows: flows})
			}
		}
	}
	return points, nil
}

// newWriter begins a run, or goes on with one.
func newWriter(lab *labs.Lab, m results.Manifest, o RunOptions) (*store.Writer, error) {
	yaml, err := lab.YAML()
	if err != nil {
		return nil, err
	}
	if m.Derived, err = lab.Derived(); err != nil {
		return nil, err
	}
	if o.Resume != nil {
		return store.Resume(o.Resume.Dir, m, yaml, report.Describe)
	}
	return store.Create(o.Out, m, yaml, report.Describe)
}

// complete finishes a run that has all its points, unless it is.
func complete(run *store.Run) (*store.Run, error) {
	if store.EntryOf(run.Dir).State == results.Complete {
		return run, nil
	}
	m := run.Manifest
	m.Start, m.BaseRTTs = time.Now(), nil
	writer, err := store.Resume(run.Dir, m, run.LabYAML, report.Describe)
	if err != nil {
		return nil, err
	}
	return finish(writer)
}

// finish gives a run that has all its points its name.
func finish(writer *store.Writer) (*store.Run, error) {
	dir, err := writer.Finish(time.Now())
	if err != nil {
		return nil, err
	}
	return store.Open(dir)
}

// abort keeps the points that are whole, if there are any.
func abort(writer *store.Writer, why error) (*store.Run, error) {
	reason := why.Error()
	if errors.Is(why, context.Canceled) {
		reason = "interrupted"
	}
	dir, err := writer.Abort(time.Now(), reason)
	if err != nil || dir == "" {
		return nil, errors.Join(why, err)
	}
	run, err := store.Open(dir)
	return run, errors.Join(why, err)
}

// name is what a watcher knows the i-th point by.
func name(points []backend.Point, i int, b *backend.Backend) Point {
	p := points[i]
	named := Point{
		Coord:  p.Coord,
		Number: i + 1,
		Of:     len(points),
		Flows:  len(p.Flows),
		Lasts:  b.Lasts(p),
	}
	for _, later := range points[i+1:] {
		named.After += b.Lasts(later)
	}
	return named
}
