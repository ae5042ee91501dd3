package docker

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"

	"aqmlab/orchestrator/journal"
)

// A host of a named image has this program from a volume of its lab. The daemon fills it from
// aqmlab's own image, so that the program's file need not be on the daemon's machine.

// prepareVolume makes that of a lab from aqmlab's own image, if some node needs it, and returns
// its name.
func (e *Engine) prepareVolume(ctx context.Context, j *journal.Journal, nodes []Node, own string) (string, error) {
	at := slices.IndexFunc(nodes, func(n Node) bool { return n.Image != "" })
	if at < 0 {
		return "", nil
	}
	name := "aqm-" + j.ID() + "-program"
	if err := errors.Join(e.refuseForeign(ctx, name), e.refuseForeignVolume(ctx, name)); err != nil {
		return "", err
	}
	// It is removed after the container that has filled it, should that be there.
	if err := j.Record(journal.Entry{Kind: journal.Volume, Name: name}, journal.Entry{Kind: journal.Container, Name: name}); err != nil {
		return "", err
	}
	if err := e.fillVolume(ctx, name, own, labels(j.Dir(), nodes[at].Owner)); err != nil {
		return "", fmt.Errorf("making volume %s: %w", name, err)
	}
	return name, nil
}

// refuseForeignVolume is refuseForeign of a volume.
func (e *Engine) refuseForeignVolume(ctx context.Context, name string) error {
	_, err := e.api.VolumeInspect(ctx, name)
	switch {
	case errdefs.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("looking for volume %s: %w", name, err)
	}
	return fmt.Errorf("volume %s exists and is not of this lab: remove it with `docker volume rm %[1]s`", name)
}

// fillVolume makes a volume with the program: a new volume gets what an image has where it is
// mounted. The container that this takes never runs.
func (e *Engine) fillVolume(ctx context.Context, name, own string, labels map[string]string) error {
	if _, err := e.api.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: labels}); err != nil {
		return err
	}
	made, err := e.api.ContainerCreate(ctx, &container.Config{Image: own, Labels: labels}, &container.HostConfig{
		NetworkMode: "none",
		Mounts:      []mount.Mount{{Type: mount.TypeVolume, Source: name, Target: path.Dir(ownProgram)}},
	}, nil, nil, name)
	if err != nil {
		return err
	}
	return e.remove(ctx, made.ID)
}

// RemoveVolumes is the journal's Undoer of volumes. One of that name without our label is
// somebody else's, and stays.
func RemoveVolumes(entries []journal.Entry) error {
	return undo("volumes", func(ctx context.Context, e *Engine) error {
		var errs []error
		for _, entry := range entries {
			errs = append(errs, e.removeVolume(ctx, entry.Name))
		}
		return errors.Join(errs...)
	})
}

// removeVolume removes a volume that no container has. One that is not there, or not ours, is
// no error.
func (e *Engine) removeVolume(ctx context.Context, name string) error {
	v, err := e.api.VolumeInspect(ctx, name)
	if err == nil && v.Labels[labLabel] != "" {
		err = e.api.VolumeRemove(ctx, name, false)
	}
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove volume %s: %w", name, err)
	}
	return nil
}

// removeOrphanVolumes removes the volumes of labs below root that have no state any more.
func (e *Engine) removeOrphanVolumes(ctx context.Context, root string) error {
	all, err := e.api.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(filters.Arg("label", rootLabel+"="+root))})
	if err != nil {
		return fmt.Errorf("listing volumes: %w", err)
	}
	var errs []error
	for _, v := range all.Volumes {
		if gone(filepath.Join(root, v.Labels[labLabel])) {
			errs = append(errs, e.removeVolume(ctx, v.Name))
		}
	}
	return errors.Join(errs...)
}
