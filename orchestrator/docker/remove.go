package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"golang.org/x/sync/errgroup"

	"aqmlab/orchestrator/journal"
)

// Remove is the journal's Undoer of containers. It removes them with all that
// runs inside, and their anonymous volumes. A container of that name without
// our label is somebody else's, and stays.
func Remove(entries []journal.Entry) error {
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name
	}
	return undo("containers", func(ctx context.Context, e *Engine) error { return e.removeAll(ctx, names) })
}

// undo has things of a kind removed, from the daemon of this machine.
func undo(what string, remove func(context.Context, *Engine) error) error {
	api, err := newClient()
	if err != nil {
		return fmt.Errorf("remove %s: %w", what, err)
	}
	defer api.Close()
	ctx, cancel := context.WithTimeout(context.Background(), apiWait)
	defer cancel()
	if _, err := api.Ping(ctx); err != nil { // told once, not for each
		return fmt.Errorf("remove %s: %w", what, explain(api, err))
	}
	return remove(ctx, &Engine{api: api})
}

// removeAll removes containers side by side.
func (e *Engine) removeAll(ctx context.Context, names []string) error {
	errs := make([]error, len(names))
	var all errgroup.Group
	all.SetLimit(together)
	for i, name := range names {
		all.Go(func() error {
			errs[i] = e.remove(ctx, name)
			return nil
		})
	}
	_ = all.Wait() // the errors are in the list
	return errors.Join(errs...)
}

// remove removes a container, even if ctx has ended. One that is not there, or
// not ours, is no error.
func (e *Engine) remove(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), apiWait)
	defer cancel()
	c, err := e.api.ContainerInspect(ctx, name)
	switch {
	case errdefs.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("remove container %s: %w", name, err)
	case c.Config.Labels[labLabel]+c.Config.Labels[siteLabel] == "":
		return nil
	}
	err = e.api.ContainerRemove(ctx, c.ID, container.RemoveOptions{Force: true, RemoveVolumes: true})
	switch {
	case errdefs.IsConflict(err): // somebody else is removing it
		return e.awaitRemoved(ctx, c.ID)
	case err != nil && !errdefs.IsNotFound(err):
		return fmt.Errorf("remove container %s: %w", name, err)
	}
	return nil
}

// awaitRemoved waits for a container to be gone.
func (e *Engine) awaitRemoved(ctx context.Context, id string) error {
	removed, failed := e.api.ContainerWait(ctx, id, container.WaitConditionRemoved)
	select {
	case <-removed:
		return nil
	case err := <-failed:
		if errdefs.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("wait for the removal of container %s: %w", id, err)
	}
}

// removeOrphans removes the containers and volumes of labs below root that have no
// state any more: they outlive a reboot, and the state does not.
func (e *Engine) removeOrphans(ctx context.Context, root string) error {
	ours := filters.NewArgs(filters.Arg("label", rootLabel+"="+root))
	all, err := e.api.ContainerList(ctx, container.ListOptions{All: true, Filters: ours})
	if err != nil {
		return fmt.Errorf("listing containers: %w", err)
	}
	var orphans []string
	for _, c := range all {
		if gone(filepath.Join(root, c.Labels[labLabel])) {
			orphans = append(orphans, c.ID)
		}
	}
	if err := e.removeAll(ctx, orphans); err != nil {
		return err
	}
	return e.removeOrphanVolumes(ctx, root)
}

// gone tells whether the state folder of a lab is.
func gone(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}
