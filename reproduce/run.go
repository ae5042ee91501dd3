package reproduce

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
)

// Run runs what is to do, and tells watch how it goes on, one call at a time.
// Each point is stored when it is done, each experiment recorded when it has all
// its points; after an error, or when ctx ends, what is done stays and is recorded,
// and another Run goes on with the rest.
func (p *Plan) Run(ctx context.Context, t Todo, watch func(Progress)) error {
	for _, e := range p.experiments {
		if err := removeLeftovers(p.runs(e.lab)); err != nil {
			return err
		}
	}
	m := newMeter(t, watch)
	m.quiet = p.modelled() // each point has the same to note
	recorder := p.newRecorder(t)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.workers())
	for i, j := range t.jobs {
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := p.runJob(ctx, j, m.watcher(i)); err != nil {
				return err
			}
			return recorder.done(j)
		})
	}
	return errors.Join(group.Wait(), recorder.finish())
}

// runJob runs and stores a job.
func (p *Plan) runJob(ctx context.Context, j job, w orchestrator.Watcher) error {
	first := j.points[0]
	var schemes []string
	for _, one := range j.points {
		schemes = append(schemes, one.Scheme)
	}
	lab, err := first.experiment.lab.Restricted(schemes, first.Load, first.Seed)
	if err != nil {
		return err
	}
	_, err = orchestrator.Run(ctx, lab, orchestrator.RunOptions{
		Log:     p.Log,
		Runtime: p.Runtime,
		Jobs:    1,
		Out:     p.runs(lab),
		Watcher: w,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", first.experiment, err)
	}
	return nil
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
	pilot := job{points: []point{one}}
	ignored := newMeter(Todo{jobs: []job{pilot}}, func(Progress) {})
	begun := time.Now()
	err = small.runJob(ctx, pilot, ignored.watcher(0))
	return time.Since(begun).Seconds() / one.cost, err
}

// updateRecord brings the record of an experiment up to what its runs hold.
func (p *Plan) updateRecord(id string) error {
	e := p.experiment(id)
	if !e.scored {
		return nil // it is only there for the claims of another
	}
	a, err := p.openArchive(p.withBaselines(id))
	if err != nil {
		return err
	}
	fresh, err := a.collect(id)
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

// withBaselines lists the experiments of an id, and those that their claims look at.
func (p *Plan) withBaselines(id string) []*experiment {
	ids := []string{id}
	for _, e := range p.experiments {
		for _, c := range e.Claims {
			if e.ID == id && c.In != "" {
				ids = append(ids, c.In)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(p.experiments), func(e *experiment) bool { return !slices.Contains(ids, e.ID) })
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
	left     []job
	recorded map[string]bool // experiments, with all that their jobs measured
}

func (p *Plan) newRecorder(t Todo) *recorder {
	return &recorder{plan: p, left: slices.Clone(t.jobs), recorded: make(map[string]bool)}
}

// done takes a job off the list, and records the experiments that have none left at
// its load.
func (r *recorder) done(j job) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = slices.DeleteFunc(r.left, func(o job) bool { return o.points[0].key == j.points[0].key })
	for _, id := range j.experiments() {
		left := slices.DeleteFunc(slices.Clone(r.left), func(o job) bool { return !slices.Contains(o.experiments(), id) })
		if slices.ContainsFunc(left, func(o job) bool { return o.points[0].Load == j.points[0].Load }) {
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
