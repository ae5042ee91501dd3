package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"aqmlab/orchestrator/sweep"
)

// lost deals with a job that is gone without having stored all of its points. They are
// tried again. A job that stored some was no vain attempt at the others, as each such job
// brings the sweep on.
func (f *follower) lost(ctx context.Context, c *chunk, t Task) error {
	if history, has := f.system.(Historian); has && t.Why == "" && c.array.Job != "" {
		t, _ = history.Ended(ctx, c.array.Job, c.number)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if t.State == Cancelled {
		return f.fail(c, t)
	}
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
		f.todo[attempt] = append(f.todo[attempt], f.units[key])
	}
	c.keys = nil
}

// fail notes that the points of a job failed.
func (f *follower) fail(c *chunk, t Task) error {
	why := errors.New(f.why(c, t))
	for _, key := range c.keys {
		u := f.units[key]
		if err := f.Sweep.NoteFailure(u, why, cmp.Or(t.Node, "no node")); err != nil {
			return err
		}
		f.tell(sweep.Event{Unit: u, Err: why})
	}
	c.keys = nil
	return nil
}

// why says how a job ended.
func (f *follower) why(c *chunk, t Task) string {
	text := fmt.Sprintf("job %s_%d: %s", cmp.Or(c.array.Job, c.array.Name), c.number, cmp.Or(t.Why, "the queue no longer has it"))
	if t.Node != "" {
		text += " on " + t.Node
	}
	if words := f.records.lastWords(c.array.ID, c.number); words != "" {
		text += "; its last words: " + words
	}
	return text
}
