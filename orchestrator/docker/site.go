package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"
)

// Reach is a connection to the Docker daemon of any machine, which the client is for. The
// program is as for [Connect].
func Reach(ctx context.Context, api *client.Client, program string) (*Engine, error) {
	e := &Engine{api: api, program: program, slots: make(chan struct{}, together)}
	if err := e.findProgram(); err != nil {
		return nil, err
	}
	info, err := api.Info(ctx)
	if err != nil {
		return nil, explain(api, err)
	}
	if arch := goArch(info.Architecture); arch != runtime.GOARCH {
		return nil, &UnavailableError{
			Missing: fmt.Sprintf("the machine of the Docker daemon at %s is of architecture %s, and this program of %s", api.DaemonHost(), arch, runtime.GOARCH),
			Remedy:  "build aqmlab for that architecture, and start it on a machine of the same",
		}
	}
	e.id, e.version, e.cores = info.ID, info.ServerVersion, info.NCPU
	return e, nil
}

// Cores is how many CPUs the daemon's machine has.
func (e *Engine) Cores() int { return e.cores }

// goArch is what Go calls an architecture that uname names.
func goArch(machine string) string {
	switch machine {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	}
	return machine
}

// Site is a container that does aqmlab's work on a machine: in the network and among the
// processes of the machine itself.
type Site struct {
	Name   string   // of the container
	Owner  string   // who has it
	Args   []string // of the program
	Socket string   // of the daemon, on its machine
	State  string   // folder of the state of all labs, on the machine, which the site makes; empty: none
	Log    io.Writer
}

// siteSocket is where a site has the daemon's socket.
const siteSocket = "/run/docker.sock"

// siteCapabilities are what it takes to make and enter network namespaces, to load BPF
// programs (CAP_BPF, which older daemons do not know, is part of SYS_ADMIN), and to see and
// stop the processes of containers. No slice of these is changed.
var siteCapabilities = []string{
	"DAC_OVERRIDE", "KILL", "NET_ADMIN", "NET_RAW", "SYS_ADMIN", "SYS_NICE", "SYS_PTRACE",
}

func (s Site) config(ref string) *container.Config {
	return &container.Config{
		User:         "0:0",
		Image:        ref,
		Entrypoint:   []string{ownProgram},
		Cmd:          s.Args,
		Env:          []string{client.EnvOverrideHost + "=unix://" + siteSocket},
		WorkingDir:   "/",
		OpenStdin:    true,
		StdinOnce:    true, // it ends with who has started it
		AttachStdin:  true,
		AttachStdout: true,
		AttachStderr: true,
		Labels:       map[string]string{siteLabel: s.Name, ownerLabel: s.Owner},
	}
}

func (s Site) hostConfig() *container.HostConfig {
	no := false
	var state []string
	if s.State != "" {
		state = []string{s.State + ":" + s.State} // which makes the folder
	}
	return &container.HostConfig{
		NetworkMode:    "host",
		PidMode:        "host",
		AutoRemove:     true,
		CapDrop:        []string{"ALL"},
		CapAdd:         siteCapabilities,
		SecurityOpt:    []string{"no-new-privileges", "apparmor=unconfined", "seccomp=unconfined", "label=disable"},
		ReadonlyRootfs: true,
		Tmpfs:          map[string]string{"/tmp": "", "/run/netns": ""},
		MaskedPaths:    []string{},
		ReadonlyPaths:  []string{}, // it writes to /proc/sys of hosts
		Init:           &no,
		Binds:          state,
		Mounts:         []mount.Mount{{Type: mount.TypeBind, Source: s.Socket, Target: siteSocket}},
	}
}

// StartSite starts a site, and returns the standard input and output of its program. The
// site ends with them.
func (e *Engine) StartSite(ctx context.Context, s Site) (io.ReadWriteCloser, error) {
	ref, err := e.ensureImage(ctx)
	if err != nil {
		return nil, err
	}
	made, err := e.createSite(ctx, s, ref)
	if err != nil {
		return nil, fmt.Errorf("create container %s: %w", s.Name, err)
	}
	conn, err := e.startSite(ctx, made.ID)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("container %s: %w", s.Name, err), e.RemoveSite(ctx, s.Name))
	}
	return newPipe(conn, s.Log), nil
}

// createSite creates its container, even if ctx ends meanwhile: only one that is there can
// be removed.
func (e *Engine) createSite(ctx context.Context, s Site, ref string) (container.CreateResponse, error) {
	if err := ctx.Err(); err != nil {
		return container.CreateResponse{}, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), apiWait)
	defer cancel()
	return e.api.ContainerCreate(ctx, s.config(ref), s.hostConfig(), nil, nil, s.Name)
}

// Shares tells whether another engine's site, by its name, is on this engine's daemon: then
// both are connections to the same one. Daemons of machines that were copied from one
// another may call themselves alike, so that says nothing, but those that do not are two.
func (e *Engine) Shares(ctx context.Context, other *Engine, site string) (bool, error) {
	if e.id != other.id {
		return false, nil
	}
	_, err := e.api.ContainerInspect(ctx, site)
	switch {
	case errdefs.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for container %s: %w", site, err)
	}
	return true, nil
}

func (e *Engine) startSite(ctx context.Context, id string) (types.HijackedResponse, error) {
	// What is attached outlives the call, and ends with its connection.
	conn, err := e.api.ContainerAttach(context.WithoutCancel(ctx), id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return conn, fmt.Errorf("attach: %w", err)
	}
	if err := e.api.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		conn.Close()
		return conn, fmt.Errorf("start: %w", err)
	}
	return conn, nil
}

// RemoveSite removes the site of that name at once. One that has ended is no error.
func (e *Engine) RemoveSite(ctx context.Context, name string) error { return e.remove(ctx, name) }

// pipe is the standard input and output of a container's program.
type pipe struct {
	conn types.HijackedResponse
	out  *io.PipeReader
	copy sync.WaitGroup
}

// newPipe takes the two output streams of a container apart.
func newPipe(conn types.HijackedResponse, log io.Writer) *pipe {
	if log == nil {
		log = io.Discard
	}
	read, write := io.Pipe()
	p := &pipe{conn: conn, out: read}
	p.copy.Go(func() {
		_, err := stdcopy.StdCopy(write, log, conn.Reader)
		write.CloseWithError(err) // nil is the end of the file
	})
	return p
}

func (p *pipe) Read(b []byte) (int, error)  { return p.out.Read(b) }
func (p *pipe) Write(b []byte) (int, error) { return p.conn.Conn.Write(b) }

// Close ends both.
func (p *pipe) Close() error {
	err := errors.Join(p.conn.CloseWrite(), p.out.Close())
	p.conn.Close()
	p.copy.Wait()
	if err != nil && strings.Contains(err.Error(), "closed") {
		return nil // by the other side before
	}
	return err
}
