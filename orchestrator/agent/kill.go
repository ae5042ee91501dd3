package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/journal"
)

// Remove is the journal's Undoer of processes: it kills each and waits until
// it is dead. A process that only has the recorded one's id, and not its start
// time, is another that was given the id since: it is left alone.
func Remove(entries []journal.Entry) error {
	var errs []error
	for _, e := range entries {
		if err := killRecorded(e); err != nil {
			errs = append(errs, fmt.Errorf("kill %s (process %d): %w", e.Name, e.PID, err))
		}
	}
	return errors.Join(errs...)
}

func killRecorded(e journal.Entry) error {
	// The descriptor is of one process for ever, whoever gets the id next, so
	// what is checked through it is what is killed.
	fd, err := unix.PidfdOpen(e.PID, 0)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		return nil // gone; with the latter two its id is now a mere thread's
	}
	if err != nil {
		return os.NewSyscallError("pidfd_open", err)
	}
	defer unix.Close(fd)
	start, err := startTime(e.PID)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	if start != e.Start {
		return nil
	}
	err = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return os.NewSyscallError("pidfd_send_signal", err)
	}
	if err := host.AwaitDeath(fd, time.Now().Add(grace)); err != nil {
		return fmt.Errorf("still there %s after it was killed: %w", grace, err)
	}
	return nil
}

// startTime returns when a process started, in clock ticks since boot: with
// its id it names the process uniquely.
func startTime(pid int) (uint64, error) {
	p, err := host.ReadProcess(pid)
	if err != nil {
		return 0, fmt.Errorf("read start time: %w", err)
	}
	return p.Start, nil
}
