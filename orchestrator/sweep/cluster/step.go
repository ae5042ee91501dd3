package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"aqmlab/orchestrator/sweep"
)

// errCancelled says that the jobs were cancelled at the user's request.
var errCancelled = errors.New("its jobs were cancelled")

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
	if err := f.collect(ctx, tasks, deaf == nil); err != nil {
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
func (f *follower) look(ctx context.Context) (map[task]Task, error) {
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
	tasks := make(map[task]Task)
	for _, t := range list {
		tasks[task{t.Name, t.Number}] = t
	}
	return tasks, nil
}

// live counts the tasks that are in the queue.
func live(tasks map[task]Task) (n int) {
	for t := range maps.Values(tasks) {
		if t.State == Waiting || t.State == Running {
			n++
		}
	}
	return n
}

// checkCancelled sees whether the user has cancelled the jobs meanwhile.
func (f *follower) checkCancelled() error {
	arrays, err := f.records.all()
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
func (f *follower) collect(ctx context.Context, tasks map[task]Task, known bool) error {
	for _, c := range f.chunks {
		t, there := tasks[task{c.array.Name, c.number}]
		if there && c.array.Job == "" { // whoever submitted it did not live to note it
			c.array.Job = t.Job
			if err := f.records.save(c.array); err != nil {
				return err
			}
		}
		if there && t.State == Waiting && t.Node == "" && !c.progress {
			continue
		}
		gone := known && (!there || t.State == Ended || t.State == Cancelled)
		if err := f.scan(c, gone); err != nil {
			return err
		}
		switch {
		case !gone:
			c.gone = time.Time{}
		case len(c.keys) == 0:
		case f.fresh:
			f.putBack(c, 1)
		case t.State == Cancelled:
			if err := f.fail(c, t); err != nil {
				return err
			}
		case c.gone.IsZero():
			c.gone = time.Now()
		case time.Since(c.gone) >= f.policy.Poll:
			if err := f.lost(ctx, c, t); err != nil {
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
			f.tell(sweep.Event{Unit: u, Done: true, Took: max(tookOf(f.Store, key), time.Millisecond)})
			continue
		}
		failed, err := f.Sweep.Failure(key)
		if err != nil {
			return err
		}
		if failed != nil {
			f.tell(sweep.Event{Unit: u, Err: errors.New(failed.Reason)})
			continue
		}
		missing++
		left = append(left, key)
	}
	c.keys = left
	return nil
}

// queueInterval is the time between two lines about the queue.
const queueInterval = 15 * time.Second

// tellQueue tells now and then how the queue is.
func (f *follower) tellQueue(tasks map[task]Task) {
	running, waiting, why := 0, 0, ""
	for _, t := range tasks {
		switch t.State {
		case Running:
			running++
		case Waiting:
			waiting++
			why = max(why, t.Why)
		}
	}
	text := fmt.Sprintf("%s running", count(running, "job"))
	if waiting > 0 {
		text += fmt.Sprintf(", %d waiting: %s", waiting, why)
	}
	for _, u := range f.units { // any: so that a line is printed now and then
		f.tell(sweep.Event{Unit: u})
		break
	}
	if len(f.units) == 0 || text == f.queue || time.Since(f.told) < queueInterval || running+waiting == 0 {
		return
	}
	f.queue, f.told = text, time.Now()
	f.note(text)
}
