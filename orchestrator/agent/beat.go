package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
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
		now := look(p.PID())
		if silent == 2 || now.ready || now.used > used {
			silent, used = 2, now.used
			continue
		}
		if silent > patience {
			p.giveUp(now.state)
			return
		}
	}
}

// giveUp kills the agent, which does nothing in that state.
func (p *Process) giveUp(state string) {
	why := fmt.Sprintf("it has not run for %v (its state is %s), and was killed; look for what stops processes here, such as kill -STOP, docker pause or a debugger, and run again",
		patience*beatEvery, state)
	p.stalled.Store(&why)
	_ = p.body.Kill() // there is nobody to tell but those who wait for its end
}

// activity is what an agent's processes do.
type activity struct {
	state string        // of the first one, as /proc has it: "T (stopped)"
	ready bool          // a thread runs, or would if it had a processor
	used  time.Duration // of all processors so far
}

// look looks at a process and its children: in a container the agent is a child.
func look(pid int) (a activity) {
	for _, p := range host.Processes() {
		if p.PID == pid || p.Parent == pid {
			a.used += p.CPU
			a.ready = a.ready || ready(p.PID)
		}
	}
	a.state = stateOf(pid)
	return a
}

// Runs tells whether the process of a journal's entry is alive. One that has ended may
// still have its number, as a zombie.
func Runs(e journal.Entry) bool {
	start, err := startTime(e.PID)
	return err == nil && start == e.Start && !strings.HasPrefix(stateOf(e.PID), "Z")
}

// stateOf is the state of a process, as /proc has it; empty if there is no such process.
func stateOf(pid int) string {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	for line := range bytes.Lines(status) {
		if state, ok := bytes.CutPrefix(line, []byte("State:")); ok {
			return string(bytes.TrimSpace(state))
		}
	}
	return ""
}

// ready tells whether a thread of a process wants a processor.
func ready(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // its pattern is good
	for _, file := range threads {
		stat, err := os.ReadFile(file)
		if _, fields, _ := bytes.Cut(stat, []byte(") ")); err == nil && bytes.HasPrefix(fields, []byte("R")) {
			return true
		}
	}
	return false
}
