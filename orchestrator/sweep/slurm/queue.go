package slurm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aqmlab/orchestrator/sweep/cluster"
)

// squeueFormat is name, array, number, state, node and reason.
const squeueFormat = "%j|%F|%K|%T|%N|%r"

// Tasks lists the tasks of arrays by their names. Slurm knows those that ended for some
// minutes, mostly five.
func (Cluster) Tasks(ctx context.Context, names []string) ([]cluster.Task, error) {
	out, err := run(ctx, "squeue", "--noheader", "--array", "--states=all", "--name="+strings.Join(names, ","), "--format="+squeueFormat)
	if err != nil {
		return nil, fmt.Errorf("asking for the queue: %w", err)
	}
	return readQueue(out)
}

// readQueue reads what squeue printed. Its JSON would say the same, but is as new as the
// oldest Slurm that is still in use, and its fields differ between releases.
func readQueue(out string) (tasks []cluster.Task, err error) {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		fields := strings.SplitN(line, "|", 6)
		if len(fields) != 6 {
			return nil, fmt.Errorf("squeue printed %q: want %s", line, squeueFormat)
		}
		number, err := strconv.Atoi(fields[2])
		if err != nil { // not of an array
			continue
		}
		t := cluster.Task{Name: fields[0], Job: fields[1], Number: number, State: stateOf(fields[3]), Why: fields[3], Node: fields[4]}
		if why := fields[5]; why != "" && why != "None" {
			t.Why += " (" + why + ")"
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// stateOf sorts the states that squeue's manual lists. One that it does not list is taken
// for that of a job that goes on: nobody submits that again.
func stateOf(name string) cluster.State {
	switch {
	case name == "CANCELLED":
		return cluster.Cancelled
	case slices.Contains([]string{"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"}, name):
		return cluster.Waiting
	case slices.Contains([]string{"BOOT_FAIL", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"}, name):
		return cluster.Ended
	}
	return cluster.Running
}
