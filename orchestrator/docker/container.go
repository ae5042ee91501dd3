package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/journal"
)

// Container is a place for one agent: a container that Launch makes.
type Container struct {
	engine *Engine
	node   Node
	image  string
	socket string
	volume string // with the program, for named images
	labels map[string]string
}

var _ agent.Place = (*Container)(nil)

// Prepare readies the containers of a lab: it finds their images, making
// aqmlab's own, removes what a reboot has left, records in the journal what
// Launch will make, and makes the volume that named images need. The error for
// an image that is not here is an [UnavailableError].
func (e *Engine) Prepare(ctx context.Context, j *journal.Journal, nodes []Node) ([]*Container, error) {
	if err := e.removeOrphans(ctx, filepath.Dir(j.Dir())); err != nil {
		return nil, err
	}
	images, err := e.images(ctx, nodes)
	if err != nil {
		return nil, err
	}
	volume, err := e.prepareVolume(ctx, j, nodes, images[""])
	if err != nil {
		return nil, err
	}
	all := make([]*Container, len(nodes))
	var entries []journal.Entry
	for i, n := range nodes {
		if err := e.refuseForeign(ctx, n.Name); err != nil {
			return nil, err
		}
		socket := filepath.Join(j.Dir(), n.Host+".meet")
		all[i] = &Container{e, n, images[n.Image], socket, volume, labels(j.Dir(), n.Owner)}
		entries = append(entries, journal.Entry{Kind: journal.Container, Name: n.Name}, journal.Entry{Kind: journal.File, Name: socket})
	}
	return all, j.Record(entries...)
}

// images finds the image of every node, by what it is called there.
func (e *Engine) images(ctx context.Context, nodes []Node) (map[string]string, error) {
	own, err := e.ensureImage(ctx)
	if err != nil {
		return nil, err
	}
	images := map[string]string{"": own}
	for _, n := range nodes {
		if images[n.Image] != "" {
			continue
		}
		found, err := e.HasImage(ctx, n.Image)
		switch {
		case err != nil:
			return nil, err
		case !found:
			return nil, &UnavailableError{Missing: fmt.Sprintf("image %s is not on this machine, and aqmlab pulls none", n.Image), Remedy: "docker pull " + n.Image}
		}
		images[n.Image] = n.Image
	}
	return images, nil
}

// refuseForeign makes sure that no container of that name exists yet: recording
// it would have it removed, though it is not ours.
func (e *Engine) refuseForeign(ctx context.Context, name string) error {
	_, err := e.api.ContainerInspect(ctx, name)
	switch {
	case errdefs.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("looking for container %s: %w", name, err)
	}
	return fmt.Errorf("container %s exists and is not of this lab: remove it with `docker rm -f %[1]s`", name)
}

// Launch makes and starts the container with the agent's command.
func (c *Container) Launch(ctx context.Context, command agent.Command) (agent.Body, error) {
	meeting, err := agent.Meet(c.socket)
	if err != nil {
		return nil, err
	}
	defer meeting.Close()
	if err := c.start(ctx, command.Args); err != nil {
		return nil, errors.Join(fmt.Errorf("container %s: %w", c.node.Name, err), c.engine.remove(ctx, c.node.Name))
	}
	b := &body{engine: c.engine, name: c.node.Name, done: make(chan struct{})}
	go b.watch(context.WithoutCancel(ctx))
	if err := b.meet(ctx, meeting, command); err != nil {
		words := c.lastWords()
		return nil, errors.Join(fmt.Errorf("container %s: %w%s", c.node.Name, err, words), c.engine.remove(ctx, c.node.Name))
	}
	return b, nil
}

// meet hands the process its descriptors, unless it ends before it comes for
// them.
func (b *body) meet(ctx context.Context, meeting *agent.Meeting, command agent.Command) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel(nil)
	watch.Go(func() {
		select {
		case <-b.done:
			cancel(errors.Join(errors.New("it ended"), b.ended))
		case <-ctx.Done():
		}
	})
	b.pid, err = meeting.Hand(ctx, command)
	return err
}

// start makes and starts the container.
func (c *Container) start(ctx context.Context, args []string) error {
	c.engine.slots <- struct{}{}
	defer func() { <-c.engine.slots }()
	config := c.node.config(c.image, args)
	config.Labels = c.labels
	api := c.engine.api
	made, err := api.ContainerCreate(ctx, config, c.node.hostConfig(c.socket, c.volume, c.engine.root), nil, nil, c.node.Name)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	// The daemon only warns of limits that it cannot keep. That it cannot keep one
	// on swap leaves a little more memory than was asked for.
	for _, w := range made.Warnings {
		if c.node.limited() && !strings.Contains(w, "swap") {
			return fmt.Errorf("create: %s", w)
		}
	}
	if err := api.ContainerStart(ctx, made.ID, container.StartOptions{}); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	return nil
}

func (n Node) limited() bool { return n.CPUs > 0 || n.Memory > 0 }

// lastWords is what the container's first process complained about, for an
// error's text: whatever fails here must not hide that error.
func (c *Container) lastWords() string {
	ctx, cancel := context.WithTimeout(context.Background(), apiWait)
	defer cancel()
	log, err := c.engine.api.ContainerLogs(ctx, c.node.Name, container.LogsOptions{ShowStdout: true, ShowStderr: true, Tail: "20"})
	if err != nil {
		return ""
	}
	defer log.Close()
	var words bytes.Buffer
	if _, err := stdcopy.StdCopy(&words, &words, log); err != nil || words.Len() == 0 {
		return ""
	}
	return "; it last wrote:\n" + strings.TrimSpace(words.String())
}

// body is the first process of a container.
type body struct {
	engine *Engine
	name   string
	pid    int
	done   chan struct{} // closed after ended is set
	ended  error         // how it ended; nil if well
}

var _ agent.Body = (*body)(nil)

func (b *body) PID() int { return b.pid }

func (b *body) Wait() error {
	<-b.done
	return b.ended
}

func (b *body) Kill() error {
	ctx, cancel := context.WithTimeout(context.Background(), apiWait)
	defer cancel()
	err := b.engine.api.ContainerKill(ctx, b.name, "KILL")
	if errdefs.IsNotFound(err) || errdefs.IsConflict(err) {
		return nil // it is gone, or does not run
	}
	return err
}

// watch waits for the end of the container.
func (b *body) watch(ctx context.Context) {
	defer close(b.done)
	exited, failed := b.engine.api.ContainerWait(ctx, b.name, container.WaitConditionNotRunning)
	select {
	case err := <-failed:
		b.ended = fmt.Errorf("the Docker daemon no longer tells how container %s is; see whether it was stopped: %w", b.name, err)
	case how := <-exited:
		b.ended = b.reason(ctx, how.StatusCode)
	}
}

// terminated is the exit status of what ends by SIGTERM.
const terminated = 128 + int64(unix.SIGTERM)

// reason says how the container ended.
func (b *body) reason(ctx context.Context, status int64) error {
	if status == 0 {
		return nil
	}
	err := fmt.Errorf("exit status %d", status)
	if c, failed := b.engine.api.ContainerInspect(ctx, b.name); failed == nil && c.State.OOMKilled {
		return fmt.Errorf("%w: out of memory (host.memory is %d bytes)", err, c.HostConfig.Memory)
	}
	if status == terminated {
		return fmt.Errorf("%w: somebody has stopped the container, or the Docker daemon", err)
	}
	return err
}
