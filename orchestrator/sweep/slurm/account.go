package slurm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"aqmlab/orchestrator/sweep/cluster"
)

// sacctFields are what is asked of the accounting database: state, exit code, nodes and
// reason.
const sacctFields = "State,ExitCode,NodeList,Reason"

// sacctTime is how long the database may take to answer.
const sacctTime = 30 * time.Second

var _ cluster.Historian = Cluster{}

// Ended asks the accounting database how a task ended; many clusters have none.
func (Cluster) Ended(ctx context.Context, job string, number int) (cluster.Task, bool) {
	ctx, stop := context.WithTimeout(ctx, sacctTime)
	defer stop()
	out, err := run(ctx, "sacct", "--noheader", "--parsable2", "--allocations", fmt.Sprintf("--jobs=%s_%d", job, number), "--format="+sacctFields)
	if err != nil {
		return cluster.Task{}, false
	}
	t, ok := readAccount(out)
	t.Job, t.Number = job, number
	return t, ok
}

// readAccount reads what sacct printed of a task. A task that was requeued has several
// lines, the last of which counts. One that goes on has not ended.
func readAccount(out string) (t cluster.Task, ok bool) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	fields := strings.SplitN(lines[len(lines)-1], "|", 4)
	if len(fields) != 4 {
		return t, false
	}
	state, _, _ := strings.Cut(fields[0], " ") // CANCELLED by 1000
	t.State = stateOf(state)
	if t.State != cluster.Ended && t.State != cluster.Cancelled {
		return t, false
	}
	t.Why = fields[0]
	if code := fields[1]; code != "" && code != "0:0" {
		t.Why += ", exit code " + code // and the signal that ended it
	}
	if why := fields[3]; why != "" && why != "None" {
		t.Why += " (" + why + ")"
	}
	if node := fields[2]; !slices.Contains([]string{"", "None assigned"}, node) {
		t.Node = node
	}
	return t, true
}
