package netns

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/journal"
)

// inode is a namespace's identity, whatever names it has.
type inode struct{ dev, ino uint64 }

func inodeOf(path string) (inode, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return inode{}, err
	}
	return inode{st.Dev, st.Ino}, nil
}

// strayWait bounds how long a killed process may take to die.
const strayWait = 5 * time.Second

// killStrays kills the processes that run inside the namespaces: what a user
// started on a host and did not end, such as a server in the background. They
// would live on in a namespace without a name, out of everybody's sight.
func killStrays(entries []journal.Entry) error {
	doomed := map[inode]bool{}
	for _, e := range entries {
		// An owner that died early leaves a name without a namespace: then the
		// file lies on the file system of /run, and no process is "in" it.
		if id, err := inodeOf(path(e.Name)); err == nil {
			doomed[id] = true
		}
	}
	// What is killed may have had a child after the look that found it: look
	// again until there is nothing to kill.
	deadline := time.Now().Add(strayWait)
	for {
		fds, err := killAllInside(doomed)
		if err = errors.Join(err, awaitDeaths(fds, deadline)); err != nil || len(fds) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes still appear in the namespaces after %s of killing them", strayWait)
		}
	}
}

// killAllInside kills what it finds in the namespaces, and returns pidfds to
// wait on.
func killAllInside(doomed map[inode]bool) (fds []int, err error) {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("look for processes in namespaces: %w", err)
	}
	var errs []error
	for _, p := range procs {
		pid, err := strconv.Atoi(p.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		fd, err := killInside(pid, doomed)
		if err != nil {
			errs = append(errs, fmt.Errorf("kill process %d: %w", pid, err))
		}
		if fd >= 0 {
			fds = append(fds, fd)
		}
	}
	return fds, errors.Join(errs...)
}

// killInside kills a process if it is in one of the namespaces, and returns a
// pidfd to wait on, or -1. The pidfd is opened before the look, so that what
// is killed is what was looked at.
func killInside(pid int, doomed map[inode]bool) (int, error) {
	inside := func() bool {
		id, err := inodeOf("/proc/" + strconv.Itoa(pid) + "/ns/net")
		return err == nil && doomed[id] // an error: it is gone, or a zombie
	}
	if !inside() {
		return -1, nil
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1, ignoreGone(err)
	}
	if !inside() {
		return -1, unix.Close(fd)
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil {
		return -1, errors.Join(ignoreGone(err), unix.Close(fd))
	}
	return fd, nil
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// awaitDeaths waits for killed processes, and closes their pidfds.
func awaitDeaths(fds []int, deadline time.Time) error {
	var errs []error
	for _, fd := range fds {
		if err := host.AwaitDeath(fd, deadline); err != nil {
			errs = append(errs, fmt.Errorf("a process is still in a namespace %s after it was killed: %w", strayWait, err))
		}
		errs = append(errs, unix.Close(fd))
	}
	return errors.Join(errs...)
}
