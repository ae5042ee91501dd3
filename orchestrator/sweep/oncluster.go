package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"aqmlab/orchestrator/sweep/cluster"
)

// onCluster is the engine of a batch system.
func onCluster(system cluster.System, policy cluster.Policy) Engine {
	return Engine{
		Run: func(ctx context.Context, j Job) error {
			f := &follower{Job: j, system: system, policy: policy}
			return f.run(ctx)
		},
		Cancel: func(ctx context.Context, w *Sweep) (int, error) { return cancelJobs(ctx, system, w) },
	}
}

// cancelJobs ends the jobs of a sweep. Their records say so first, so that nobody who
// follows them submits them again.
func cancelJobs(ctx context.Context, system cluster.System, w *Sweep) (live int, err error) {
	arrays, err := w.arrays()
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
		if err := w.saveArray(a); err != nil {
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
		if t.State != cluster.Waiting && t.State != cluster.Running {
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

// errCancelled says that the jobs were cancelled at the user's request.
var errCancelled = errors.New("its jobs were cancelled")

// run has jobs measure the points, and follows them.
func (f *follower) run(ctx context.Context) error {
	if f.Sweep.runtime().Facts().OwnKernel {
		return fmt.Errorf("%w: the results of runtime %s are those of this machine and its kernel: want a runtime with modelled hosts or guest kernels", ErrUnfit, f.Sweep.Runtime)
	}
	release, err := f.Sweep.follow()
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
		// Of a store with very many points a look takes long: it is not all that we do.
		select {
		case <-ctx.Done():
			return f.explain(ctx, context.Cause(ctx))
		case <-time.After(max(f.policy.Poll, 4*time.Since(begun))):
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
	f.units, f.points, f.todo = make(map[string]Unit), make(map[string]Point), make(map[int][]Point)
	for i, u := range units {
		f.units[u.Key], f.points[u.Key] = u, f.Points[i]
	}
	f.fresh = f.Retry
	if err := f.load(); err != nil {
		return err
	}
	if err := f.reach(ctx); err != nil {
		return err
	}
	f.costs = costs{sweep: f.Sweep}
	if f.costs.stored(f.Store, f.units); f.costs.rate == 0 && len(f.todo[1]) > pilots {
		f.note(fmt.Sprintf("measuring up to %d points here, of each at most %v, to learn how many make a job of %v", pilots, pilotTime, f.policy.Chunk))
		j := f.Job
		j.Points = f.todo[1]
		err := f.costs.pilot(ctx, j, func(e Event) {
			if e.Done {
				f.early = append(f.early, e)
			}
		})
		if err != nil {
			return err
		}
	}
	for i, u := range units {
		units[i].Cost = max(1e-3, f.costs.of(f.points[u.Key]).Seconds())
		f.units[u.Key] = units[i]
	}
	f.meter = f.Job.meter(units)
	f.meter.Takes = f.policy.Chunk
	for _, e := range f.early {
		f.tell(e)
	}
	f.todo[1] = slices.DeleteFunc(f.todo[1], func(p Point) bool { _, open := f.units[p.Key]; return !open })
	return nil
}

// reach finds out whether there is a cluster, before anything is measured for it, and
// copies the program that its jobs run.
func (f *follower) reach(ctx context.Context) (err error) {
	if _, err := f.system.Tasks(ctx, []string{"aqmlab-" + f.Sweep.Name}); err != nil {
		return err
	}
	f.program, err = f.Store.keepProgram()
	return err
}

// cpus is how many CPUs a job has: one for each point that it measures at once.
func (f *follower) cpus() int { return cmp.Or(f.Jobs, 1) }

// submit submits an array of jobs.
func (f *follower) submit(ctx context.Context, chunks [][]Point, attempt int) error {
	w := f.Sweep
	a, err := w.newArray(chunks, attempt)
	if err != nil {
		return err
	}
	root, err := filepath.Abs(f.Store.Dir)
	if err != nil {
		return err
	}
	logs, err := filepath.Abs(w.jobsFile(a.ID, "-"))
	if err != nil {
		return err
	}
	text, err := f.system.Script(cluster.Array{
		Name: a.Name, Tasks: a.Tasks, CPUs: f.cpus(), Folder: root, Log: logs,
		Comment: fmt.Sprintf("Measures points of sweep %s, attempt %d at these.", w.Name, attempt),
		Command: []string{f.program, "sweep", "work", w.Name, chunkName(a.ID, cluster.Number), "--store", root, "--jobs", strconv.Itoa(f.cpus())},
	})
	if err == nil {
		err = writeScript(w.jobsFile(a.ID, scriptSuffix), text)
	}
	if err == nil {
		// An end of ctx in this moment would leave us without the number.
		a.Job, err = f.system.Submit(context.WithoutCancel(ctx), w.jobsFile(a.ID, scriptSuffix))
	}
	if err != nil {
		return errors.Join(err, w.removeArray(a))
	}
	f.add(a, chunks)
	return w.saveArray(a)
}
