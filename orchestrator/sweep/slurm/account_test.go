package slurm

import (
	"testing"

	"aqmlab/orchestrator/sweep/cluster"
)

// TestReadAccount: states, exit codes and fields are those of sacct's manual.
func TestReadAccount(t *testing.T) {
	for out, want := range map[string]cluster.Task{
		"TIMEOUT|0:0|n1|None\n":                              {State: cluster.Ended, Why: "TIMEOUT", Node: "n1"},
		"OUT_OF_MEMORY|0:125|n2|None\n":                      {State: cluster.Ended, Why: "OUT_OF_MEMORY, exit code 0:125", Node: "n2"},
		"FAILED|1:0|n2|NonZeroExitCode\n":                    {State: cluster.Ended, Why: "FAILED, exit code 1:0 (NonZeroExitCode)", Node: "n2"},
		"CANCELLED by 1000|0:0|None assigned|None\n":         {State: cluster.Cancelled, Why: "CANCELLED by 1000"},
		"NODE_FAIL|1:0|n1|None\nNODE_FAIL|1:0|n3|NodeDown\n": {State: cluster.Ended, Why: "NODE_FAIL, exit code 1:0 (NodeDown)", Node: "n3"},
		"COMPLETED|0:0|n1|\n":                                {State: cluster.Ended, Why: "COMPLETED", Node: "n1"},
		"NODE_FAIL|1:0|n1|None\nRUNNING|0:0|n2|None\n":       {},
		"PENDING|0:0|None assigned|Resources\n":              {},
		"":                                                   {},
		"Slurm accounting storage is disabled\n":             {},
	} {
		got, ok := readAccount(out)
		if ok != (want.Why != "") || ok && got != want {
			t.Errorf("%q: %+v, %v, want %+v", out, got, ok, want)
		}
	}
}

// TestNoAccounting: without a database nobody knows how a task ended.
func TestNoAccounting(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if got, ok := (Cluster{}).Ended(t.Context(), "17", 3); ok {
		t.Errorf("%+v", got)
	}
}
