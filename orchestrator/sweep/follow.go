package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"aqmlab/orchestrator/sweep/cluster"
	"aqmlab/results/store"
)

// follower has points measured by the jobs of a cluster, and watches until each is stored
// or has failed. What has become of a point is judged by the store alone; the queue says
// which jobs are gone.
type follower struct {
	Job
	system  cluster.System
	policy  cluster.Policy
	program string // that jobs run

	units  map[string]Unit // by key: neither stored nor failed
	points map[string]Point
	todo   map[int][]Point // in no job, by the attempt that is to be made
	chunks []*chunk        // in jobs
	arrays []*array
	fresh  bool // points of jobs that are gone begin anew, as their failures are forgotten

	costs costs
	meter *Meter
	early []Event // of what was measured here
	queue string  // what was told of it last
	told  time.Time
}

// chunk is the points of a job.
type chunk struct {
	array    *array
	number   int
	keys     []string  // that are neither stored nor failed
	gone     time.Time // when its job was first seen to be gone
	progress bool      // some of its points were stored
}

// load takes the jobs that earlier followers submitted. A point belongs to the last.
func (f *follower) load() error {
	arrays, err := f.Sweep.arrays()
	if err != nil {
		return err
	}
	owned := make(map[string]bool)
	for _, a := range slices.Backward(arrays) {
		if a.Cancelled {
			continue
		}
		keys, err := f.Sweep.chunks(a.ID)
		if err != nil {
			return err
		}
		for i := range keys {
			c := &chunk{array: a, number: i}
			for _, key := range keys[i] {
				if _, open := f.units[key]; open && !owned[key] {
					owned[key] = true
					c.keys = append(c.keys, key)
				}
			}
			c.progress = len(c.keys) < len(keys[i])
			if len(c.keys) > 0 {
				f.chunks = append(f.chunks, c)
			}
		}
		f.arrays = append(f.arrays, a)
	}
	for _, p := range f.Points {
		if !owned[p.Key] {
			f.todo[1] = append(f.todo[1], p)
		}
	}
	return nil
}

// add takes an array that was submitted.
func (f *follower) add(a *array, chunks [][]Point) {
	f.arrays = append(f.arrays, a)
	for i, points := range chunks {
		c := &chunk{array: a, number: i}
		for _, p := range points {
			c.keys = append(c.keys, p.Key)
		}
		f.chunks = append(f.chunks, c)
	}
}

// step looks once, and does what is to be done. It says whether all points are through.
func (f *follower) step(ctx context.Context) (done bool, err error) {
	tasks, deaf := f.look(ctx)
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case deaf != nil:
		f.note(deaf.Error() + ": trying again")
	}
	if err := f.checkCancelled(); err != nil {
		return false, err
	}
	if err := f.collect(tasks, deaf == nil); err != nil {
		return false, err
	}
	f.chunks = slices.DeleteFunc(f.chunks, func(c *chunk) bool { return len(c.keys) == 0 })
	if deaf == nil {
		f.fresh = false
		err = f.submitTodo(ctx, live(tasks))
	}
	f.tellQueue(tasks)
	return len(f.units) == 0, err
}

// task tells the tasks of all arrays apart.
type task struct {
	array  string
	number int
}

// look asks for the tasks that have points left.
func (f *follower) look(ctx context.Context) (map[task]cluster.Task, error) {
	if len(f.chunks) == 0 {
		return nil, nil
	}
	var names []string
	for _, c := range f.chunks {
		if !slices.Contains(names, c.array.Name) {
			names = append(names, c.array.Name)
		}
	}
	list, err := f.system.Tasks(ctx, names)
	if err != nil {
		return nil, err
	}
	tasks := make(map[task]cluster.Task)
	for _, t := range list {
		tasks[task{t.Name, t.Number}] = t
	}
	return tasks, nil
}

// live counts the tasks that are in the queue.
func live(tasks map[task]cluster.Task) (n int) {
	for t := range maps.Values(tasks) {
		if t.State == cluster.Waiting || t.State == cluster.Running {
			n++
		}
	}
	return n
}

// checkCancelled sees whether the user has cancelled the jobs meanwhile.
func (f *follower) checkCancelled() error {
	arrays, err := f.Sweep.arrays()
	if err != nil {
		return err
	}
	for _, a := range arrays {
		if a.Cancelled && slices.ContainsFunc(f.arrays, func(own *array) bool { return own.ID == a.ID }) {
			return fmt.Errorf("sweep %s: %w", f.Sweep.Name, errCancelled)
		}
	}
	return nil
}

// collect takes what jobs have stored, and the points of those that are gone.
func (f *follower) collect(tasks map[task]cluster.Task, known bool) error {
	for _, c := range f.chunks {
		t, there := tasks[task{c.array.Name, c.number}]
		if there && c.array.Job == "" { // whoever submitted it did not live to note it
			c.array.Job = t.Job
			if err := f.Sweep.saveArray(c.array); err != nil {
				return err
			}
		}
		if there && t.State == cluster.Waiting && t.Node == "" && !c.progress {
			continue
		}
		gone := known && (!there || t.State == cluster.Ended || t.State == cluster.Cancelled)
		if err := f.scan(c, gone); err != nil {
			return err
		}
		switch {
		case !gone:
			c.gone = time.Time{}
		case len(c.keys) == 0:
		case f.fresh:
			f.putBack(c, 1)
		case t.State == cluster.Cancelled:
			if err := f.fail(c, t); err != nil {
				return err
			}
		case c.gone.IsZero():
			c.gone = time.Now()
		case time.Since(c.gone) >= f.policy.Poll:
			if err := f.lost(c, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// scan takes the points of a job that are stored or have failed. A job that goes on
// measures them in their order, so that those behind the first that are missing need no
// look.
func (f *follower) scan(c *chunk, all bool) error {
	missing, limit := 0, 2*f.cpus()+2
	var left []string
	for i, key := range c.keys {
		if missing == limit && !all {
			left = append(left, c.keys[i:]...)
			break
		}
		if all { // a shared folder may remember for a while that something is not there
			_, _ = os.ReadDir(filepath.Dir(f.Store.Folder(key)))
		}
		u := f.units[key]
		if f.Store.Has(key) {
			c.progress = true
			f.tell(Event{Unit: u, Done: true, Took: max(f.Store.took(key), time.Millisecond)})
			continue
		}
		failed, err := f.Sweep.failure(key)
		if err != nil {
			return err
		}
		if failed != nil {
			f.tell(Event{Unit: u, Err: errors.New(failed.Reason)})
			continue
		}
		missing++
		left = append(left, key)
	}
	c.keys = left
	return nil
}

// tell passes on news of a point.
func (f *follower) tell(e Event) {
	if e.Done || e.Err != nil {
		if _, open := f.units[e.Key]; !open {
			return
		}
		delete(f.units, e.Key)
	}
	f.meter.Take(e)
}

// note passes on what the user should know.
func (f *follower) note(text string) {
	if f.meter == nil {
		f.Watch(Progress{Of: len(f.Points), Left: f.policy.Chunk, Just: text})
		return
	}
	f.meter.Take(Event{Note: text})
}

// writeScript stores a script.
func writeScript(path, text string) error {
	if err := store.WriteFile(path, []byte(text)); err != nil {
		return err
	}
	return os.Chmod(path, 0o755)
}
