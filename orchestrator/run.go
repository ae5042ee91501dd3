package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/orchestrator/role"
	"aqmlab/orchestrator/uml"
	"aqmlab/results"
	"aqmlab/trafficgen"
)

// Point names one point of a run while it is going on.
type Point struct {
	Scheme string
	Load   float64
	Seed   uint64
	Number int           // from 1
	Of     int           // points in all
	Flows  int           // in its trace
	Lasts  time.Duration // wall time of the starts of its trace; zero in virtual time
	After  time.Duration // the same for all the points that follow
}

// Progress counts the flows of a point that is going on.
type Progress struct {
	Completed int64 // every byte came
	Failed    int64 // ended otherwise
	// Look tells what the point has measured so far, which takes a moment. It is
	// good during the call that it is passed to; nil where nothing is known.
	Look func() (results.Seen, error) `json:"-"`
	// Last is what the last look found. A run looks once a second.
	Last results.Seen `json:"-"`
}

// Watcher is told how a run goes on. Its methods are called one at a time; in
// virtual time several points may be going on.
type Watcher interface {
	// Note is something that the user should know.
	Note(text string)
	// Begin starts a point.
	Begin(p Point)
	// Progress is called several times a second while the point runs.
	Progress(p Point, s Progress)
	// End is called with what the point measured.
	End(p Point, measured results.Point)
}

// RunOptions say how a lab is run.
type RunOptions struct {
	Options
	Runtime Runtime // where the hosts run; empty: Auto
	Jobs    int     // points that run at once in virtual time; zero: one a CPU
	Out     string  // folder that the run is stored below
	Watcher Watcher // is told how it goes on

	// Resume is a run that ended early, which is to have the points that it lacks;
	// nil: a new run. The lab must be the run's own.
	Resume *results.Run
}

// Run runs every point of the lab, scheme after scheme on the same traces, and
// stores them. It returns the run, which is partial if ctx ended or a point
// failed after others were done; the error then says why. A run that cannot be
// resumed gives [ErrNotResumed].
func Run(ctx context.Context, lab *labs.Lab, o RunOptions) (*results.Run, error) {
	points, err := plan(lab)
	if err != nil {
		return nil, err
	}
	if o.Resume != nil && (o.Runtime == Auto || o.Runtime == "") {
		o.Runtime = Runtime(o.Resume.Manifest.Runtime)
	}
	runtime, why := o.Runtime.choose(lab, machine{os.Geteuid() == 0, uml.Find})
	if why != "" {
		o.Watcher.Note(why)
	}
	if o.Resume != nil {
		all := len(points)
		if lab, points, err = takeUp(lab, points, runtime, o.Resume); err != nil {
			return nil, err
		}
		o.Watcher.Note(fmt.Sprintf("%d of %d points are there already", all-len(points), all))
		if len(points) == 0 {
			return complete(o.Resume)
		}
	}
	return runOn(ctx, runtime, lab, points, o)
}

// runOn runs points on a runtime.
func runOn(ctx context.Context, runtime Runtime, lab *labs.Lab, points []point, o RunOptions) (*results.Run, error) {
	if runtime == Sim {
		return runVirtual(ctx, lab, points, o)
	}
	for _, line := range lab.Unsupported(string(runtime)) {
		o.Watcher.Note("warning: " + line)
	}
	if runtime == UML {
		return runGuests(ctx, lab, points, o)
	}
	for _, line := range otherLosses(lab, kernelVersion()) {
		o.Watcher.Note("warning: " + line)
	}
	o.Containers = runtime == Docker
	t, err := Up(ctx, lab, o.Options)
	if err != nil {
		return nil, err
	}
	run, err := t.runAll(ctx, points, o)
	return run, errors.Join(err, t.Down(context.WithoutCancel(ctx)))
}

// plan lists the points: all schemes of a load and seed in a row, so that what
// changes on the machine over time changes for all of them.
func plan(lab *labs.Lab) ([]point, error) {
	var points []point
	for _, load := range lab.Workload.Load {
		for _, seed := range lab.Seeds {
			flows, err := trafficgen.Trace(lab.Traffic(load, seed))
			if err != nil {
				return nil, err
			}
			for _, s := range lab.Schemes {
				points = append(points, point{scheme: s.Name, load: load, seed: seed, flows: flows})
			}
		}
	}
	return points, nil
}

// runAll calibrates the testbed and runs and stores the points.
func (t *Testbed) runAll(ctx context.Context, points []point, o RunOptions) (*results.Run, error) {
	c, err := t.Calibrate(ctx, o.Watcher.Note)
	if err != nil {
		return nil, err
	}
	o.Watcher.Note(t.describe(c))
	if missed := results.MissedRTTs(c.RTTs); missed != "" {
		o.Watcher.Note("warning: " + missed + "; a larger dilation brings them closer")
	}
	return store(t.lab, t.manifest(c), o, func(w Watcher, add func(results.Point) error) error {
		for i, p := range points {
			measured, err := t.runOne(ctx, p, name(points, i, t.lasts), w)
			if err == nil {
				err = add(measured)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// store keeps the points that measure adds, whole or, if it fails, those that
// it had added by then. What measure tells its watcher, others see, too.
func store(lab *labs.Lab, m results.Manifest, o RunOptions, measure func(w Watcher, add func(results.Point) error) error) (*results.Run, error) {
	writer, err := newWriter(lab, m, o)
	if err != nil {
		return nil, err
	}
	if err := measure(newPublisher(o.Watcher, writer.Publish), writer.Add); err != nil {
		return abort(writer, err)
	}
	dir, err := writer.Finish(time.Now())
	if err != nil {
		return nil, err
	}
	return results.Open(dir)
}

// newWriter begins a run, or goes on with one.
func newWriter(lab *labs.Lab, m results.Manifest, o RunOptions) (*results.Writer, error) {
	yaml, err := lab.YAML()
	if err != nil {
		return nil, err
	}
	if o.Resume != nil {
		return results.Resume(o.Resume.Dir, m, yaml)
	}
	return results.Create(o.Out, m, yaml)
}

// complete finishes a run that has all its points, unless it is.
func complete(run *results.Run) (*results.Run, error) {
	if results.EntryOf(run.Dir).State == results.Complete {
		return run, nil
	}
	m := run.Manifest
	m.Start, m.BaseRTTs = time.Now(), nil
	writer, err := results.Resume(run.Dir, m, run.LabYAML)
	if err != nil {
		return nil, err
	}
	dir, err := writer.Finish(time.Now())
	if err != nil {
		return nil, err
	}
	return results.Open(dir)
}

// abort keeps the points that are whole, if there are any.
func abort(writer *results.Writer, why error) (*results.Run, error) {
	reason := why.Error()
	if errors.Is(why, context.Canceled) {
		reason = "interrupted"
	}
	dir, err := writer.Abort(time.Now(), reason)
	if err != nil || dir == "" {
		return nil, errors.Join(why, err)
	}
	run, err := results.Open(dir)
	return run, errors.Join(why, err)
}

// name is what a watcher knows the i-th point by. lasts is the wall time of the
// starts of a point's trace.
func name(points []point, i int, lasts func(point) time.Duration) Point {
	p := points[i]
	named := Point{
		Scheme: p.scheme,
		Load:   p.load,
		Seed:   p.seed,
		Number: i + 1,
		Of:     len(points),
		Flows:  len(p.flows),
		Lasts:  lasts(p),
	}
	for _, later := range points[i+1:] {
		named.After += lasts(later)
	}
	return named
}

// runOne runs a point in the watcher's sight.
func (t *Testbed) runOne(ctx context.Context, p point, named Point, w Watcher) (results.Point, error) {
	w.Begin(named)
	measured, err := t.run(ctx, p, func(s role.State) {
		w.Progress(named, Progress{Completed: s.Completed, Failed: s.Failed, Look: func() (results.Seen, error) { return t.see(ctx) }})
	})
	if err != nil {
		return results.Point{}, err
	}
	w.End(named, measured)
	return measured, nil
}

// lasts is the wall time of the starts of a point's trace.
func (t *Testbed) lasts(p point) time.Duration {
	return time.Duration(float64(trafficgen.End(p.flows)) * t.dilation)
}

// describe says on what the points will run.
func (t *Testbed) describe(c Calibration) string {
	var s strings.Builder
	provider := "the kernel"
	if t.cc.Provider() == cc.EBPF {
		provider = "an eBPF program"
	}
	where := ""
	if t.engine != nil {
		where = " in containers"
	}
	fmt.Fprintf(&s, "%d hosts%s, %s from %s, dilation %v", len(t.net.Hosts), where, t.lab.Host.Transport, provider, c.Dilation)
	if c.BaseRTT > 0 {
		fmt.Fprintf(&s, ", base RTT %v", c.BaseRTT.Round(time.Microsecond))
	}
	if drawn := t.lab.RTT.Max - t.lab.RTT.Min; drawn > 0 {
		fmt.Fprintf(&s, " and up to %v more, by %s", drawn, t.rttBy())
	}
	return s.String()
}

func (t *Testbed) manifest(c Calibration) results.Manifest {
	m := manifest(t.lab)
	m.Runtime = string(t.runtime())
	m.Dilation = c.Dilation
	m.Transport.Provider = string(t.cc.Provider())
	m.RTTBy, m.BaseRTT, m.BaseRTTs = t.rttBy(), results.Micros(c.BaseRTT), c.RTTs
	return m
}

// manifest is what the manifests of all runtimes have in common.
func manifest(lab *labs.Lab) results.Manifest {
	version, revision := results.ThisBuild()
	m := results.Manifest{
		Version:     version,
		GitRevision: revision,
		Start:       time.Now().UTC(),
		Host:        results.ThisMachine(),
		Transport:   results.Transport{Name: lab.Host.Transport},
		RTTBy:       results.RTTByDelayLine,
		Lab:         lab.Name,
		Loads:       slices.Clone(lab.Workload.Load),
		Seeds:       slices.Clone(lab.Seeds),
		Baseline:    lab.Baseline,
	}
	for _, s := range lab.Schemes {
		m.Schemes = append(m.Schemes, s.Name)
	}
	return m
}
