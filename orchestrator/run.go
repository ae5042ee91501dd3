// Package orchestrator is the conductor: it plans the points of a lab, chooses a
// runtime from a table, has it run the points, and stores what was measured.
package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
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
	Threads  int           // CPUs for each simulated point; zero: those that points leave idle
	Out      string        // folder that the run is stored below
	Root     string        // folder of the state of all labs; empty: this user's, see journal.Root
	Log      io.Writer     // gets what helper processes complain about, several at a time; may be nil
	Watcher  Watcher       // is told how it goes on

	InPlaceOf []string // the transports that the lab asked for, by their numbers, where its hosts speak others; empty: they do not

	// Resume is a run that ended early, which is to have the points that it lacks;
	// nil: a new run. The lab must be the run's own.
	Resume *store.Run
	// Points are those of the lab that are run; nil: all of them.
	Points []results.Coord
	// Keep begins to keep what is measured, in place of a run below Out; nil: such a run.
	Keep func(m results.Manifest) (Keeper, error)
}

// Keeper keeps what a run measures. Its methods are called one at a time, but for
// Publish, which may be called while another is at work.
type Keeper interface {
	// Add keeps a point.
	Add(p results.Point) error
	// Publish shows readers how far the run is.
	Publish(l results.Live) error
	// Finish ends a run that has all its points, and Abort one that lacks some for that
	// reason. They return the folder of the run that was stored, or "".
	Finish(end time.Time) (dir string, err error)
	Abort(end time.Time, reason string) (dir string, err error)
}

var _ Keeper = (*store.Writer)(nil)

// Run runs every point of the lab, scheme after scheme on the same traces, and
// stores them. It returns the run, which is partial if ctx ended or a point
// failed after others were done; the error then says why. A run that cannot be
// resumed gives [ErrNotResumed].
func Run(ctx context.Context, lab *labs.Lab, o RunOptions) (*store.Run, error) {
	points, err := plan(ctx, lab, o.Points)
	if err != nil {
		return nil, err
	}
	o, lab, why := o.Settle(ctx, lab)
	if why != "" {
		o.Watcher.Note(why)
	}
	row, err := o.row()
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
	if err := o.writable(); err != nil {
		return nil, err
	}
	for _, line := range lab.Unsupported(row.Hosts) {
		o.Watcher.Note("warning: " + line)
	}
	jobs := min(cmp.Or(o.Jobs, runtime.NumCPU()), len(points))
	b, err := row.Open(ctx, lab, backend.Options{Root: o.Root, Log: o.Log, Jobs: jobs, Threads: o.threads(jobs), Note: o.Watcher.Note})
	if err != nil {
		return nil, err
	}
	b.Row, b.Manifest.Runtime = row, row.Name
	b.Manifest.InPlaceOf(o.InPlaceOf)
	run, err := o.runOn(ctx, b, lab, points)
	return run, errors.Join(err, b.Close(context.WithoutCancel(ctx)))
}

// threads is how many CPUs a point may have while so many run at once.
func (o RunOptions) threads(jobs int) int {
	if o.Threads == 0 && o.Jobs == 0 {
		return max(1, runtime.GOMAXPROCS(0)/jobs)
	}
	return o.Threads
}

// writable tells, before anything is brought up, why the run could not be stored.
func (o RunOptions) writable() error {
	switch {
	case o.Keep != nil:
		return nil
	case o.Resume != nil:
		return store.CheckWritable(o.Resume.Dir)
	}
	if err := store.CheckWritable(o.Out); err != nil {
		return fmt.Errorf("%w; --out names another folder", err)
	}
	return nil
}

// Settle chooses a runtime for a lab where the options leave that open, and tells why;
// else why is empty. The lab that it returns is the one to run: without root, its hosts
// may speak another transport than the lab asks for.
func (o RunOptions) Settle(ctx context.Context, lab *labs.Lab) (settled RunOptions, run *labs.Lab, why string) {
	asked := cmp.Or(o.Runtime, Auto)
	if asked == Auto && o.Resume != nil {
		asked = Runtime(o.Resume.Manifest.Runtime)
	}
	if asked == Auto {
		c := choose(o.rows(), lab, thisUser(ctx))
		asked, run, why = Runtime(c.row.Name), c.lab, c.why
	}
	o.Runtime = asked
	if run == nil || run == lab {
		return o, lab, why
	}
	o.InPlaceOf = nil
	instead := run.Speaks()
	for i, s := range lab.Speaks() {
		asked := s.Transport.Kind
		if asked == instead[i].Transport.Kind {
			asked = ""
		}
		o.InPlaceOf = append(o.InPlaceOf, asked)
	}
	return o, run, why
}

// rows are the runtimes that there are.
func (o RunOptions) rows() []backend.Row {
	if o.Runtimes == nil {
		return Runtimes()
	}
	return o.Runtimes
}

// row is the runtime that the options settled on.
func (o RunOptions) row() (backend.Row, error) {
	row := backend.First(o.rows(), o.Runtime.names)
	if row.Open == nil {
		return backend.Row{}, fmt.Errorf("there is no runtime %q here", o.Runtime)
	}
	return row, nil
}

// runOn runs points on a backend, as many at once as it can, and stores them in the
// order of the plan, whole or, after an error, those that were done by then.
func (o RunOptions) runOn(ctx context.Context, b *backend.Backend, lab *labs.Lab, points []backend.Point) (*store.Run, error) {
	keeper, err := newKeeper(lab, b.Manifest, o)
	if err != nil {
		return nil, err
	}
	watcher := newPublisher(o.Watcher, keeper.Publish)
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
	if err := (series{b.Jobs, len(points), measure, keeper.Add}).run(ctx); err != nil {
		return abort(keeper, err)
	}
	return finish(keeper)
}

// plan lists the points, or those of them that are wanted: all schemes of a load and
// seed in a row, so that what changes on the machine over time changes for all of them.
func plan(ctx context.Context, lab *labs.Lab, wanted []results.Coord) ([]backend.Point, error) {
	var points []backend.Point
	for _, load := range lab.Workload.Load {
		for _, seed := range lab.Seeds {
			var here []results.Coord
			for _, s := range lab.Schemes {
				at := results.Coord{Scheme: s.Name, Load: load, Seed: seed}
				if wanted == nil || slices.Contains(wanted, at) {
					here = append(here, at)
				}
			}
			if len(here) == 0 {
				continue
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			flows, err := trafficgen.Trace(lab.Traffic(load, seed))
			if err != nil {
				return nil, err
			}
			for _, at := range here {
				points = append(points, backend.Point{Coord: at, Flows: flows})
			}
		}
	}
	return points, nil
}

// newKeeper begins a run, or goes on with one.
func newKeeper(lab *labs.Lab, m results.Manifest, o RunOptions) (Keeper, error) {
	yaml, err := lab.YAML()
	if err != nil {
		return nil, err
	}
	if m.Derived, err = lab.Derived(); err != nil {
		return nil, err
	}
	if o.Keep != nil {
		return o.Keep(m)
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
func finish(keeper Keeper) (*store.Run, error) {
	dir, err := keeper.Finish(time.Now())
	if err != nil || dir == "" {
		return nil, err
	}
	return store.Open(dir)
}

// abort keeps the points that are whole, if there are any.
func abort(keeper Keeper, why error) (*store.Run, error) {
	reason := why.Error()
	if errors.Is(why, context.Canceled) {
		reason = "interrupted"
	}
	dir, err := keeper.Abort(time.Now(), reason)
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
