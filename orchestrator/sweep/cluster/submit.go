package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"aqmlab/orchestrator/sweep"
	"aqmlab/results/store"
)

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

// submit submits an array of jobs.
func (f *follower) submit(ctx context.Context, chunks [][]sweep.Unit, attempt int) error {
	w := f.Sweep
	a, err := f.records.newArray(chunks, attempt)
	if err != nil {
		return err
	}
	root, err := filepath.Abs(f.Store.Dir)
	if err != nil {
		return err
	}
	logs, err := filepath.Abs(f.records.file(a.ID, "-"))
	if err != nil {
		return err
	}
	text, err := f.system.Script(Array{
		Name: a.Name, Tasks: a.Tasks, CPUs: f.cpus(), Folder: root, Log: logs,
		Comment: fmt.Sprintf("Measures points of sweep %s, attempt %d at these.", w.Name, attempt),
		Command: []string{f.program, "sweep", "work", w.Name, chunkName(a.ID, Number), "--store", root, "--jobs", strconv.Itoa(f.cpus())},
	})
	if err == nil {
		err = writeScript(f.records.file(a.ID, scriptSuffix), text)
	}
	if err == nil {
		// An end of ctx in this moment would leave us without the number.
		a.Job, err = f.system.Submit(context.WithoutCancel(ctx), f.records.file(a.ID, scriptSuffix))
	}
	if err != nil {
		return errors.Join(err, f.records.remove(a))
	}
	f.add(a, chunks)
	return f.records.save(a)
}

// writeScript stores a script.
func writeScript(path, text string) error {
	if err := store.WriteFile(path, []byte(text)); err != nil {
		return err
	}
	return os.Chmod(path, 0o755)
}
