package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/netns"
)

// Spawn starts an agent and waits until it answers. When it fails, or ctx ends
// first, no process is left; the error then holds the last lines that the agent
// wrote to stderr.
func Spawn(ctx context.Context, o Options) (*Process, error) {
	p, err := spawn(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("start agent %s: %w", o.Role, err)
	}
	return p, nil
}

func spawn(ctx context.Context, o Options) (*Process, error) {
	p, err := o.prepare()
	if err != nil {
		return nil, err
	}
	link, err := o.connect()
	if err != nil {
		return nil, errors.Join(err, p.log.close())
	}
	alive, owner, err := ownerPair()
	if err != nil {
		return nil, errors.Join(err, p.log.close(), link.child.Close(), link.discard())
	}
	p.owner = owner
	err = p.start(ctx, o, []*os.File{alive, link.child})
	// From here on the agent alone holds its ends: its death ends them.
	alive.Close()
	link.child.Close()
	if err != nil {
		return nil, errors.Join(err, owner.Close(), p.log.close(), link.discard())
	}
	if o.Nice != 0 {
		prioritize(p.PID(), o.Nice)
	}
	go p.reap()
	if o.Detached == nil && !o.Quiet {
		go p.watch() // to its end
	}
	if err := p.begin(ctx, o, link); err != nil {
		return nil, errors.Join(err, p.kill(), link.discard())
	}
	return p, nil
}

// prepare readies where its stderr goes.
func (o Options) prepare() (*Process, error) {
	p := &Process{role: o.Role, done: make(chan struct{})}
	if o.Detached == nil {
		p.log = &tail{copy: o.Log}
		return p, nil
	}
	if err := o.record(journal.Entry{Kind: journal.File, Name: o.Detached.Log}); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(o.Detached.Log, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	p.log = &tail{file: file}
	return p, nil
}

func (o Options) record(e journal.Entry) error {
	if o.Record == nil {
		return nil
	}
	return o.Record(e)
}

// link is both ends of the control connection.
type link struct {
	own   net.Conn // nil when the agent listens at path
	path  string
	child *os.File // for the agent to inherit
}

// connect makes the control connection. The socket of a detached agent listens
// before the agent is there to accept, so that nobody need wait for it.
func (o Options) connect() (*link, error) {
	if o.Detached == nil {
		return connectPair()
	}
	path := o.Detached.Socket
	if err := o.record(journal.Entry{Kind: journal.File, Name: path}); err != nil {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	defer listener.Close()
	listener.SetUnlinkOnClose(false) // the agent has it, too
	file, err := listener.File()
	if err != nil {
		return nil, fmt.Errorf("control socket %s: %w", path, err)
	}
	return &link{path: path, child: file}, nil
}

func connectPair() (*link, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	file, child := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	defer file.Close() // FileConn has its own
	own, err := net.FileConn(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("control socket: %w", err), child.Close())
	}
	return &link{own: own, child: child}, nil
}

// client connects the owner's side.
func (l *link) client(ctx context.Context) (*Client, error) {
	if l.own == nil {
		return Dial(ctx, l.path)
	}
	return newClient(l.own), nil
}

// discard undoes connect after a failure.
func (l *link) discard() error {
	if l.own == nil {
		return os.Remove(l.path)
	}
	if err := l.own.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// child is a process that this one has started.
type child struct{ cmd *exec.Cmd }

var _ Body = child{}

func (c child) PID() int    { return c.cmd.Process.Pid }
func (c child) Wait() error { return c.cmd.Wait() }

func (c child) Kill() error {
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// launch starts the agent's process where it shall be.
func (o Options) launch(ctx context.Context, c Command) (Body, error) {
	if o.Place != nil {
		return o.Place.Launch(ctx, c)
	}
	exe := o.Exe
	if exe == "" {
		var err error
		if exe, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
	}
	cmd := exec.Command(exe, c.Args...)
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	cmd.Stderr, cmd.ExtraFiles = c.Stderr, c.Files
	if err := netns.Do(o.Namespace, func() error { return onCPUs(o.CPUs, cmd.Start) }); err != nil {
		return nil, err
	}
	return child{cmd}, nil
}

// onCPUs runs f on the calling, locked thread while it may only use the given
// CPUs, which a process that f starts inherits: so it is never anywhere else,
// and its Go runtime sizes itself for them.
func onCPUs(cpus []int, f func() error) (err error) {
	if len(cpus) == 0 {
		return f()
	}
	var before, wanted unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	for _, cpu := range cpus {
		wanted.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &wanted); err != nil {
		return fmt.Errorf("use CPUs %v: %w", cpus, err)
	}
	defer func() {
		if back := unix.SchedSetaffinity(0, &before); back != nil {
			runtime.LockOSThread() // once more than it is unlocked: the thread dies
			err = errors.Join(err, fmt.Errorf("return to own CPUs: %w", back))
		}
	}()
	return f()
}

// prioritize gives all threads of an agent a nice value, and the same to its
// session: where the kernel groups processes by session (autogroup, see sched(7)),
// the values of processes count only within one. Whoever lacks the right to, or the
// kernel the grouping, does without.
func prioritize(pid, nice int) {
	_ = unix.Setpriority(unix.PRIO_PGRP, pid, nice) // the leader of its group
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", pid), []byte(strconv.Itoa(nice)), 0)
}
