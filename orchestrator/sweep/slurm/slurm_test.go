package slurm

import (
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/orchestrator/sweep/cluster"
	"aqmlab/units"
)

// TestReadQueue: the lines are those that the manual of squeue describes for --array and
// this format.
func TestReadQueue(t *testing.T) {
	tasks, err := readQueue(`aqmlab-x|6|2|PENDING||Resources
aqmlab-x|6|3|PENDING||BeginTime
aqmlab-x|6|4|CONFIGURING|n3|None
aqmlab-x|6|0|RUNNING|n1|None
aqmlab-x|6|1|COMPLETING|n2|None
aqmlab-x|6|5|COMPLETED|n2|None
aqmlab-x|6|6|TIMEOUT|n2|TimeLimit
aqmlab-x|6|7|FAILED|n1|NonZeroExitCode
aqmlab-x|6|8|CANCELLED||None
aqmlab-x|6|9|PENDING||Nodes required for job are DOWN, DRAINED | reserved
other|7|N/A|RUNNING|n1|None
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []cluster.Task{
		{Name: "aqmlab-x", Job: "6", Number: 2, State: cluster.Waiting, Why: "PENDING (Resources)"},
		{Name: "aqmlab-x", Job: "6", Number: 3, State: cluster.Waiting, Why: "PENDING (BeginTime)"},
		{Name: "aqmlab-x", Job: "6", Number: 4, State: cluster.Running, Why: "CONFIGURING", Node: "n3"},
		{Name: "aqmlab-x", Job: "6", Number: 0, State: cluster.Running, Why: "RUNNING", Node: "n1"},
		{Name: "aqmlab-x", Job: "6", Number: 1, State: cluster.Running, Why: "COMPLETING", Node: "n2"},
		{Name: "aqmlab-x", Job: "6", Number: 5, State: cluster.Ended, Why: "COMPLETED", Node: "n2"},
		{Name: "aqmlab-x", Job: "6", Number: 6, State: cluster.Ended, Why: "TIMEOUT (TimeLimit)", Node: "n2"},
		{Name: "aqmlab-x", Job: "6", Number: 7, State: cluster.Ended, Why: "FAILED (NonZeroExitCode)", Node: "n1"},
		{Name: "aqmlab-x", Job: "6", Number: 8, State: cluster.Cancelled, Why: "CANCELLED"},
		{Name: "aqmlab-x", Job: "6", Number: 9, State: cluster.Waiting, Why: "PENDING (Nodes required for job are DOWN, DRAINED | reserved)"},
	}
	if !slices.Equal(tasks, want) {
		t.Errorf("%+v, want %+v", tasks, want)
	}
	if _, err := readQueue("slurm_load_jobs error: no\n"); err == nil {
		t.Error("an error of squeue was read as tasks")
	}
}

// TestStates: a job that goes on, or of which nobody knows, is not submitted again.
func TestStates(t *testing.T) {
	for state, names := range map[cluster.State]string{
		cluster.Ended:     "BOOT_FAIL COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED REVOKED TIMEOUT",
		cluster.Running:   "RUNNING CONFIGURING COMPLETING RESIZING SIGNALING STAGE_OUT STOPPED SUSPENDED DREAMING",
		cluster.Waiting:   "PENDING REQUEUED REQUEUE_FED REQUEUE_HOLD RESV_DEL_HOLD SPECIAL_EXIT",
		cluster.Cancelled: "CANCELLED",
	} {
		for name := range strings.FieldsSeq(names) {
			if got := stateOf(name); got != state {
				t.Errorf("%s is %v, want %v", name, got, state)
			}
		}
	}
}

func TestJobNumber(t *testing.T) {
	for out, want := range map[string]string{"17\n": "17", "17;east\n": "17", "": "", "Submitted batch job 17\n": ""} {
		if got, err := jobNumber(out); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", out, got, err)
		}
	}
}

// TestScript: the options are those of sbatch's manual, each on a line of its own before
// the first command.
func TestScript(t *testing.T) {
	p := Defaults()
	p.Account, p.Partition, p.Memory, p.Time = "physics", "short", 4*units.GB, Wall(90*time.Second)
	p.Option = []string{"--exclusive", "--mail-type=FAIL"}
	c, err := New(p)
	if err == nil {
		t.Errorf("%+v: 90s for jobs of 10m", c)
	}
	p.Chunk = Wall(time.Minute)
	if c, err = New(p); err != nil {
		t.Fatal(err)
	}
	a := cluster.Array{
		Name: "aqmlab-x", Tasks: 42, CPUs: 2, Folder: "/a b", Log: "/a b/x-", Comment: "Says what.",
		Command: []string{"/a b/bin/p", "sweep", "work", "it's", "x-" + cluster.Number, "--jobs", "2"},
	}
	got, err := c.Script(a)
	if err != nil {
		t.Fatal(err)
	}
	want := `#!/bin/sh
#SBATCH --job-name=aqmlab-x
#SBATCH --array=0-41
#SBATCH --cpus-per-task=2
#SBATCH --time=2
#SBATCH --chdir="/a b"
#SBATCH --output="/a b/x-%a.log"
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --account=physics
#SBATCH --partition=short
#SBATCH --mem=3906250K
#SBATCH --exclusive
#SBATCH --mail-type=FAIL
# Says what.
exec '/a b/bin/p' sweep work 'it'\''s' x-"$SLURM_ARRAY_TASK_ID" --jobs 2
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for _, folder := range []string{`/a"b`, "/a%b", `/a\b`} {
		a.Folder = folder
		if _, err := c.Script(a); err == nil {
			t.Errorf("%s: no error", folder)
		}
	}
}

// TestParams: what users write, over the defaults, and what is refused.
func TestParams(t *testing.T) {
	row := kind.Row("slurm", "", Defaults(), func(p Params, _ struct{}) (Cluster, error) { return New(p) })
	table := kind.Table[struct{}, Cluster]{row}
	c, err := table.New("slurm", map[string]any{"time": kind.Text("1-12:00:00"), "chunk": kind.Text("1h30m"), "queue": kind.Text("7"), "memory": kind.Text("2GB"), "option": []any{kind.Text("--exclusive")}}, struct{}{})
	if err != nil || time.Duration(c.Time) != 36*time.Hour || time.Duration(c.Chunk) != 90*time.Minute || c.Queue != 7 || c.Memory != 2*units.GB || c.Option[0] != "--exclusive" || c.Attempts != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	for name, bad := range map[string]map[string]string{
		"time":     {"10": "want one such as 90s", "0s": "a second or more", "1:2:3:4": "no time", "5m": "less than the 10m"},
		"memory":   {"4": "size", "1B": "outside"},
		"queue":    {"0": "outside", "many": "whole number"},
		"attempts": {"11": "outside"},
		"account":  {"a b": "space"},
	} {
		for value, want := range bad {
			_, err := table.New("slurm", map[string]any{name: kind.Text(value)}, struct{}{})
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v, want an error with %q", name, value, err, want)
			}
		}
	}
	if _, err := table.New("slurm", map[string]any{"option": []any{kind.Text("exclusive")}}, struct{}{}); err == nil {
		t.Error("an option without dashes is none")
	}
}

func TestWall(t *testing.T) {
	for text, want := range map[string]string{"90s": "1m30s", "10m": "10m", "60m": "1h", "30:00": "30m", "12:00:00": "12h", "2-00:00:00": "48h", "1h30m": "1h30m"} {
		var w Wall
		if err := w.UnmarshalText([]byte(text)); err != nil || w.String() != want {
			t.Errorf("%s: %v, %v, want %s", text, w, err, want)
		}
	}
}
