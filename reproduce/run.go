package reproduce

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"aqmlab/orchestrator"
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
