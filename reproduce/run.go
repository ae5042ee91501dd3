package reproduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"aqmlab/labs"
	"aqmlab/orchestrator/sweep"
	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
)

// Progress is how far a plan has come.
type Progress = sweep.Progress

// Run runs what is to do, and tells watch how it goes on, one call at a time.
// Each point is stored when it is done, each experiment recorded when it has all
// its points; after an error, or when ctx ends, what is done stays and is recorded,
// and another Run goes on with the rest. A point that fails keeps no other from being
// run; the error then says which did.
func (p *Plan) Run(ctx context.Context, t Todo, watch func(Progress)) error {
	byKey := make(map[string]point)
	for _, one := range t.points {
		byKey[one.key] = one
		if err := p.store().Remove(one.key); err != nil { // measured before the time that was asked for
			return fmt.Errorf("removing an early point: %w", err)
		}
	}
	units := t.units()
	m := &sweep.Meter{
		Takes: t.Takes, Watch: watch,
		Quiet: p.modelled(), // each point has the same to note
		Label: func(u sweep.Unit) string { return byKey[u.Key].String() },
	}
	m.Begin(units)
	recorder := p.newRecorder(t)
	var recording errgroup.Group // beside what is measured meanwhile
	var failed []error
	err := p.pool().Run(ctx, units, func(e sweep.Event) {
		one := byKey[e.Key]
		switch {
		case e.Note != "":
			e.Note = fmt.Sprintf("%s: %s", one.experiment, e.Note)
		case e.Err != nil:
			failed = append(failed, fmt.Errorf("%v: %w", one, e.Err))
		case e.Done:
			recording.Go(func() error { return recorder.done(one) })
		}
		m.Take(e)
	})
	return errors.Join(err, errors.Join(failed...), recording.Wait(), recorder.finish())
}

// pool is what measures the plan's points.
func (p *Plan) pool() sweep.Pool {
	return sweep.Pool{Store: p.store(), Runtime: p.Runtime, Jobs: p.Jobs, Log: p.Log}
}

// units are the points as a pool measures them.
func (t *Todo) units() (units []sweep.Unit) {
	for _, one := range t.points {
		units = append(units, sweep.Unit{
			Coord: one.Coord, Key: one.key, Cost: one.cost,
			Set: fmt.Sprintf("%s %d", one.experiment.lab.Name, one.experiment.lab.Workload.Flows),
			Lab: func() (*labs.Lab, error) { return one.experiment.lab, nil },
		})
	}
	return units
}

// The pilot is a point that tells how fast this machine is at the moment. It is of
// the kind that most experiments are, and takes a second at most, in a guest some
// seconds.
const (
	pilotExperiment = "tcn-fig6"
	pilotScheme     = "tcn"
	pilotLoad       = 0.9
	pilotFlows      = 300
	guestFlows      = 60
)

// Calibrate runs a small point and scales the estimate by the time that it took. On
// the wall clock there is nothing to correct: the traffic itself follows it.
func (p *Plan) Calibrate(ctx context.Context, t *Todo) error {
	if !p.virtual() || t.Points == 0 {
		return nil
	}
	factor, err := p.pilot(ctx)
	if err != nil {
		return fmt.Errorf("timing a small point: %w", err)
	}
	t.factor, t.Takes = factor, time.Duration(float64(t.Takes)*factor)
	return nil
}

// pilot is how many seconds a second of expected work takes.
func (p *Plan) pilot(ctx context.Context) (float64, error) {
	var failed error
	out, err := os.MkdirTemp("", "aqmlab-pilot-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(out)
	o := p.Options
	o.Scale, o.Loads, o.Flows, o.Out = Standard, []float64{pilotLoad}, pilotFlows, out
	if !p.modelled() {
		o.Flows = guestFlows
	}
	small, err := New([]string{pilotExperiment}, o)
	if err != nil {
		return 0, err
	}
	one := small.points[slices.IndexFunc(small.points, func(k point) bool { return k.Scheme == pilotScheme })]
	begun := time.Now()
	err = small.pool().Run(ctx, (&Todo{points: []point{one}}).units(), func(e sweep.Event) { failed = cmp.Or(failed, e.Err) })
	return time.Since(begun).Seconds() / one.cost, cmp.Or(err, failed)
}

// updateRecord brings the record of an experiment up to what its runs hold.
func (p *Plan) updateRecord(id string) error {
	e := p.experiment(id)
	if !e.scored {
		return nil // it is only there for the claims of another
	}
	fresh, err := p.openArchive().collect(id)
	if err != nil {
		return fmt.Errorf("recording %s: %w", id, err)
	}
	if len(fresh.Figures) == 0 {
		return nil
	}
	r, err := record.Load(p.records(), e.paper, id)
	if err != nil {
		return err
	}
	r.Merge(fresh, p.precedence())
	r.Figures = slices.DeleteFunc(r.Figures, func(f record.Figure) bool { return !p.claims(f.Claim) })
	return r.Save(p.records())
}

// claims tells whether the papers still claim what a record has a figure of.
func (p *Plan) claims(id string) bool {
	return slices.ContainsFunc(p.experiments, func(e *experiment) bool {
		return slices.ContainsFunc(e.Claims, func(c papers.Claim) bool { return c.ID == id && metric.NeedsRuns(c) })
	})
}

// recorder records an experiment whenever all points of a load are done, so that
// little is lost when the machine fails.
type recorder struct {
	plan     *Plan
	mu       sync.Mutex
	left     []point
	recorded map[string]bool // experiments, with all that their points measured
}

func (p *Plan) newRecorder(t Todo) *recorder {
	return &recorder{plan: p, left: slices.Clone(t.points), recorded: make(map[string]bool)}
}

// done takes a point off the list, and records the experiments that have none left at
// its load.
func (r *recorder) done(one point) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = slices.DeleteFunc(r.left, func(o point) bool { return o.key == one.key })
	for _, id := range one.neededBy() {
		left := slices.DeleteFunc(slices.Clone(r.left), func(o point) bool { return !slices.Contains(o.neededBy(), id) })
		if slices.ContainsFunc(left, func(o point) bool { return o.Load == one.Load }) {
			continue
		}
		r.recorded[id] = len(left) == 0
		if err := r.plan.updateRecord(id); err != nil {
			return err
		}
	}
	return nil
}

// finish records what runs hold of the others, and writes the card of all papers
// with its figures beside the records.
func (r *recorder) finish() error {
	for _, e := range r.plan.experiments {
		if r.recorded[e.ID] {
			continue
		}
		r.recorded[e.ID] = true
		if err := r.plan.updateRecord(e.ID); err != nil {
			return err
		}
	}
	return publish(r.plan.Options)
}
