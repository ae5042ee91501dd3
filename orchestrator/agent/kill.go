package agent

import (
	"errors"
	"fmt"
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
	fd, err := host.Kill(e.PID, func() (bool, error) {
		start, err := startTime(e.PID)
		return start == e.Start, err
	})
	if err != nil || fd < 0 {
		return err
	}
	defer unix.Close(fd)
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
