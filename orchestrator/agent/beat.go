package agent

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/journal"
)

// An agent that runs beats: it sends its owner a byte every second. Calls would tell
// less: one may last long, and a large one takes a while to read.
const (
	beatEvery = time.Second
	patience  = 7 // beats that may be missing
)

// ownerPair makes the connection by which an agent and its owner know of each other.
func ownerPair() (agent, owner *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	if err := unix.SetNonblock(fds[1], true); err != nil { // so that closing it ends a Read
		return nil, nil, errors.Join(err, unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[0]), "agent"), os.NewFile(uintptr(fds[1]), "owner"), nil
}

// beat tells the owner that this process runs, until the owner is gone.
func beat(owner io.Writer) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for range tick.C {
		if _, err := owner.Write([]byte{attached}); err != nil {
			return
		}
	}
}

// watch kills the agent if it was stopped, so that what waits for it goes on. It counts
// seconds in which the owner runs, too: both may have been stopped together. An agent
// that is silent and yet works, or that others keep from working, is left alone.
func (p *Process) watch() {
	var heard atomic.Bool
	go func() {
		b := make([]byte, 1)
		for {
			if _, err := p.owner.Read(b); err != nil {
				return
			}
			heard.Store(true)
		}
	}()
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for silent, used := 0, time.Duration(0); ; {
		select {
		case <-p.done:
			return
		case <-tick.C:
		}
		if silent++; heard.Swap(false) {
			silent = 0
		}
		if silent < 2 {
			continue
		}
		now := host.ActivityOf(p.PID()) // in a container the agent is a child
		if silent == 2 || now.Ready || now.Used > used {
			silent, used = 2, now.Used
			continue
		}
		if silent > patience {
			p.giveUp(now.StillFor(patience * beatEvery))
			return
		}
	}
}

// giveUp kills the agent, which does nothing.
func (p *Process) giveUp(why string) {
	p.stalled.Store(&why)
	_ = p.body.Kill() // there is nobody to tell but those who wait for its end
}

// Runs tells whether the process of a journal's entry is alive. One that has ended may
// still have its number, as a zombie.
func Runs(e journal.Entry) bool {
	start, err := startTime(e.PID)
	return err == nil && start == e.Start && !strings.HasPrefix(host.StateOf(e.PID), "Z")
}
