package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"aqmlab/orchestrator/journal"
)

// leaveMachines removes the shares of all machines, and names those that have none any
// more.
func (t *Testbed) leaveMachines(ctx context.Context) (left []string, err error) {
	errs := make([]error, len(t.remotes))
	var all errgroup.Group
	for i, r := range t.remotes {
		all.Go(func() error {
			errs[i] = r.end(ctx)
			return nil
		})
	}
	_ = all.Wait() // the errors are in the list
	for i, r := range t.remotes {
		if errs[i] == nil {
			left = append(left, r.Name)
		}
	}
	t.remotes = nil
	return left, errors.Join(errs...)
}

// undoersBut are those that remove a lab which some machines have left.
func undoersBut(left []string) journal.Undoers {
	all := undoers()
	all[journal.Machine] = func(entries []journal.Entry) error {
		return cleanMachines(slices.DeleteFunc(slices.Clone(entries), func(e journal.Entry) bool { return slices.Contains(left, e.Name) }))
	}
	return all
}

// cleanWait bounds the removal of what one machine has.
const cleanWait = 30 * time.Second

// clean removes what the machine has of the lab. The site that made it may be at it.
func (f foothold) clean() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), cleanWait, fmt.Errorf("it took longer than %v", cleanWait))
	defer cancel()
	r := f.remote("clean")
	if err := r.open(ctx, "", os.Stderr); err != nil {
		return errors.Join(err, r.end(ctx))
	}
	err := r.engine.RemoveSite(ctx, f.Site)
	if err == nil {
		var removed []string
		err = r.call(ctx, "Clean", f.Owner, &removed)
	}
	return errors.Join(err, r.end(ctx))
}
