package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"aqmlab/orchestrator/sweep"
)

// Engine is the engine of a batch system.
func Engine(system System, policy Policy) sweep.Engine {
	return sweep.Engine{
		Run: func(ctx context.Context, j sweep.Job) error {
			f := &follower{Job: j, records: records{j.Sweep}, system: system, policy: policy}
			return f.run(ctx)
		},
		Cancel: func(ctx context.Context, w *sweep.Sweep) (int, error) { return cancel(ctx, system, records{w}) },
	}
}

// cancel ends the jobs of a sweep. Their records say so first, so that nobody who
// follows them submits them again.
func cancel(ctx context.Context, system System, r records) (live int, err error) {
	arrays, err := r.all()
	if err != nil {
		return 0, err
	}
	var names, jobs []string
	for _, a := range arrays {
		names = append(names, a.Name)
		if a.Cancelled {
			continue
		}
		a.Cancelled = true
		if err := r.save(a); err != nil {
			return 0, err
		}
	}
	if len(names) == 0 {
		return 0, nil
	}
	tasks, err := system.Tasks(ctx, names)
	if err != nil {
		return 0, err
	}
	seen := make(map[string]bool)
	for _, t := range tasks {
		if t.State != Waiting && t.State != Running {
			continue
		}
		live++
		if !seen[t.Job] {
			seen[t.Job] = true
			jobs = append(jobs, t.Job)
		}
	}
	if live == 0 {
		return 0, nil
	}
	return live, system.Cancel(ctx, jobs)
}

// ErrUnfit says that a cluster cannot measure a sweep.
var ErrUnfit = errors.New("no other machine can measure this")

// longestRest is the longest time between two looks that took long.
const longestRest = time.Minute

// run has jobs measure the points, and follows them.
func (f *follower) run(ctx context.Context) error {
	if f.Sweep.Runtime.Facts().OwnKernel {
		return fmt.Errorf("%w: the results of runtime %s are those of this machine and its kernel: want a runtime with modelled hosts or guest kernels", ErrUnfit, f.Sweep.Runtime)
	}
	release, err := f.records.follow()
	if err != nil {
		return err
	}
	defer release()
	if err := f.begin(ctx); err != nil {
		return f.explain(ctx, err)
	}
	for {
		begun := time.Now()
		done, err := f.step(ctx)
		if done || err != nil {
			return f.explain(ctx, err)
		}
		// Of a store with very many points a look takes long: it is not all that we do. One
		// that a shared folder held up says nothing of the next.
		select {
		case <-ctx.Done():
			return f.explain(ctx, context.Cause(ctx))
		case <-time.After(max(f.policy.Poll, min(4*time.Since(begun), longestRest))):
		}
	}
}

// explain says what goes on where following was interrupted.
func (f *follower) explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || len(f.arrays) == 0 {
		return err
	}
	return fmt.Errorf("%w: the jobs of sweep %[2]s go on; aqmlab sweep --attach %[2]s follows them, aqmlab sweep cancel %[2]s ends them", err, f.Sweep.Name)
}

// begin finds the jobs that there are, and learns how long points take.
func (f *follower) begin(ctx context.Context) error {
	units := f.Sweep.Units(f.Points)
	f.units, f.todo = make(map[string]sweep.Unit), make(map[int][]sweep.Unit)
	for _, u := range units {
		f.units[u.Key] = u
	}
	f.fresh = f.Retry
	if err := f.load(); err != nil {
		return err
	}
	if err := f.reach(ctx); err != nil {
		return err
	}
	if f.costs.stored(f.Job, f.units); f.costs.rate == 0 && len(f.todo[1]) > pilots {
		f.note(fmt.Sprintf("measuring up to %d points here, of each at most %v, to learn how many make a job of %v", pilots, pilotTime, f.policy.Chunk))
		err := f.costs.pilot(ctx, f.Job.Pool(), f.todo[1], func(e sweep.Event) {
			if e.Done {
				f.early = append(f.early, e)
			}
		})
		if err != nil {
			return err
		}
	}
	for i, u := range units {
		units[i].Cost = max(1e-3, f.costs.of(u).Seconds())
		f.units[u.Key] = units[i]
	}
	f.meter = f.Job.Meter(units)
	f.meter.Takes = f.policy.Chunk
	for _, e := range f.early {
		f.tell(e)
	}
	f.todo[1] = slices.DeleteFunc(f.todo[1], func(u sweep.Unit) bool { _, open := f.units[u.Key]; return !open })
	return nil
}

// reach finds out whether there is a cluster, before anything is measured for it, and
// copies the program that its jobs run.
func (f *follower) reach(ctx context.Context) (err error) {
	if _, err := f.system.Tasks(ctx, []string{jobName(f.Sweep)}); err != nil {
		return err
	}
	f.program, err = keepProgram(f.Store.Dir)
	return err
}
