package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"aqmlab/orchestrator/sweep/cluster"
)

// lost deals with a job that is gone without having stored all of its points. They are
// tried again. A job that stored some was no vain attempt at the others, as each such job
// brings the sweep on.
func (f *follower) lost(c *chunk, t cluster.Task) error {
	attempt := c.array.Attempt
	if !c.progress {
		attempt++
	}
	if attempt > f.policy.Attempts {
		return f.fail(c, t)
	}
	f.note(fmt.Sprintf("%s: %s are submitted again, attempt %d", f.why(c, t), count(len(c.keys), "point"), attempt))
	f.putBack(c, attempt)
	return nil
}

// putBack has the points of a job submitted again.
func (f *follower) putBack(c *chunk, attempt int) {
	for _, key := range c.keys {
		f.todo[attempt] = append(f.todo[attempt], f.points[key])
	}
	c.keys = nil
}

// fail notes that the points of a job failed.
func (f *follower) fail(c *chunk, t cluster.Task) error {
	why := errors.New(f.why(c, t))
	for _, key := range c.keys {
		u := f.units[key]
		if err := f.Sweep.noteFailure(u, why, cmp.Or(t.Node, "no node")); err != nil {
			return err
		}
		f.tell(Event{Unit: u, Err: why})
	}
	c.keys = nil
	return nil
}

// why says how a job ended.
func (f *follower) why(c *chunk, t cluster.Task) string {
	text := fmt.Sprintf("job %s_%d: %s", cmp.Or(c.array.Job, c.array.Name), c.number, cmp.Or(t.Why, "the queue no longer has it"))
	if t.Node != "" {
		text += " on " + t.Node
	}
	if words := f.Sweep.lastWords(c.array, c.number); words != "" {
		text += "; its last words: " + words
	}
	return text
}

// submitTodo submits the points that are in no job, as far as the queue may have more.
// The last attempt has a job for each point: one that ends its job then ends no other's.
func (f *follower) submitTodo(ctx context.Context, live int) error {
	for attempt := 1; attempt <= f.policy.Attempts; attempt++ {
		chunk := f.policy.Chunk * time.Duration(f.cpus())
		if attempt > 1 && attempt == f.policy.Attempts {
			chunk = 0
		}
		parts := f.costs.parts(f.todo[attempt], chunk)
		for len(parts) > 0 {
			// Many small arrays would be no favour to the queue.
			if live > f.policy.Queue/2 {
				break
			}
			some := parts[:min(len(parts), f.policy.Queue-live, f.policy.Array)]
			err := f.submit(ctx, some, attempt)
			if err != nil && live == 0 {
				return err
			}
			if err != nil { // a limit of the cluster, likely: what it has now will end
				f.note(err.Error() + ": trying again")
				break
			}
			f.note(fmt.Sprintf("submitted job %s: %s for %s", f.arrays[len(f.arrays)-1].Job, count(len(some), "task"), count(len(slices.Concat(some...)), "point")))
			live += len(some)
			parts = parts[len(some):]
		}
		f.todo[attempt] = slices.Concat(parts...)
	}
	return nil
}

// tellQueue tells now and then how the queue is.
func (f *follower) tellQueue(tasks map[task]cluster.Task) {
	running, waiting, why := 0, 0, ""
	for _, t := range tasks {
		switch t.State {
		case cluster.Running:
			running++
		case cluster.Waiting:
			waiting++
			why = max(why, t.Why)
		}
	}
	text := fmt.Sprintf("%s running", count(running, "job"))
	if waiting > 0 {
		text += fmt.Sprintf(", %d waiting: %s", waiting, why)
	}
	for _, u := range f.units { // any: so that a line is printed now and then
		f.tell(Event{Unit: u})
		break
	}
	if len(f.units) == 0 || text == f.queue || time.Since(f.told) < reportInterval || running+waiting == 0 {
		return
	}
	f.queue, f.told = text, time.Now()
	f.note(text)
}

// count counts things in words.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
