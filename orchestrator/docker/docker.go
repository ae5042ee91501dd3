// Package docker runs the agents of a lab in Docker containers: one container
// a host, and one for the switch.
//
// A container has network mode none, a read-only root, few capabilities, and
// this program as its first process (see [agent.Join]), which comes for the
// agent's descriptors to a socket that is mounted into the container. So what
// runs inside is an agent as any other: its owner calls it over the same
// connection, and it ends when its owner dies. The links of the lab are put
// into the containers' network namespaces by package netns.
//
// Nothing is pulled. The image is made here, of this program alone, which must
// be a static binary; hosts may have any other image, into which the program is
// mounted.
package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"aqmlab/orchestrator/host"

	"github.com/docker/docker/client"
	"golang.org/x/sys/unix"
)

// UnavailableError says what this machine lacks for containers: a Docker daemon,
// an image, a program that can run in one.
type UnavailableError struct {
	Missing string
	Remedy  string // what to do
	Err     error  // how that was found; may be nil
}

// Error says what is missing and what to do.
func (e *UnavailableError) Error() string {
	text := fmt.Sprintf("%s: %s", e.Missing, e.Remedy)
	if e.Err != nil {
		text += fmt.Sprintf(" (%v)", e.Err)
	}
	return text
}

// Unwrap returns how it was found.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Engine is a connection to this machine's Docker daemon. It is safe for use by
// several goroutines.
type Engine struct {
	api     *client.Client
	program string        // that runs in the containers
	slots   chan struct{} // one item a container that is being made
	id      string        // of the daemon, as it calls itself
	version string        // of the daemon
	cores   int           // of its machine
	root    string        // the cgroup above all others, as the daemon calls it
}

// together is how many containers are made at once: as many as keep the daemon
// busy.
const together = 8

// apiWait bounds calls to the daemon that nobody else bounds.
const apiWait = 30 * time.Second

// Connect finds the daemon, at DOCKER_HOST or its usual place. The program is
// the path of what is to run in containers; empty: this one. The error for a
// machine on which no lab can run in containers is an [UnavailableError].
func Connect(ctx context.Context, program string) (*Engine, error) {
	api, err := newClient()
	if err != nil {
		return nil, err
	}
	e := &Engine{api: api, program: program, slots: make(chan struct{}, together)}
	if err := errors.Join(e.findProgram(), e.findDaemon(ctx)); err != nil {
		return nil, errors.Join(err, api.Close())
	}
	return e, nil
}

// newClient makes a client of the daemon, which it does not ask yet.
func newClient() (*client.Client, error) {
	api, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		return nil, &UnavailableError{"no way to a Docker daemon", "see DOCKER_HOST and the other variables of the docker command", err}
	}
	return api, nil
}

// Close ends the connection, not the containers.
func (e *Engine) Close() error { return e.api.Close() }

// Version is the daemon's.
func (e *Engine) Version() string { return e.version }

// findProgram settles on the program and makes sure that it runs in any
// container.
func (e *Engine) findProgram() error {
	if e.program == "" {
		var err error
		if e.program, err = os.Executable(); err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
	}
	loader, err := host.Loader(e.program)
	if err != nil {
		return fmt.Errorf("look at the program for containers: %w", err)
	}
	if loader != "" {
		return &UnavailableError{
			Missing: e.program + " is not a static binary, so it runs in no container",
			Remedy:  "build it with CGO_ENABLED=0 (make build does)",
		}
	}
	return nil
}

// findDaemon makes sure that a daemon answers and that its containers run on
// this machine's kernel.
func (e *Engine) findDaemon(ctx context.Context) error {
	info, err := e.api.Info(ctx)
	if err != nil {
		return explain(e.api, err)
	}
	e.version, e.cores, e.root = info.ServerVersion, info.NCPU, "/"
	if info.CgroupDriver == "systemd" {
		e.root = "-.slice" // systemd.slice(5)
	}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return fmt.Errorf("reading the kernel's release: %w", err)
	}
	release := string(name.Release[:max(0, bytes.IndexByte(name.Release[:], 0))])
	if !strings.HasPrefix(e.api.DaemonHost(), "unix://") || info.KernelVersion != release {
		return &UnavailableError{
			Missing: fmt.Sprintf("the Docker daemon at %s runs on another machine or in a virtual one (kernel %s, here %s)", e.api.DaemonHost(), info.KernelVersion, release),
			Remedy:  "links are moved into its containers by this machine's kernel, so use a daemon that runs here: unset DOCKER_HOST",
		}
	}
	return nil
}

// explain says what to do when the daemon did not answer.
func explain(api *client.Client, err error) error {
	if !client.IsErrConnectionFailed(err) {
		return fmt.Errorf("asking the Docker daemon at %s: %w", api.DaemonHost(), err)
	}
	return &UnavailableError{
		Missing: fmt.Sprintf("no Docker daemon answers at %s", api.DaemonHost()),
		Remedy:  "start it (systemctl start docker, or dockerd), install it (Debian: apt-get install docker.io), or say in DOCKER_HOST where it is",
	}
}
