package orchestrator

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"aqmlab/results/compare"
	"aqmlab/results/report"
	"aqmlab/results/store"
	"aqmlab/trafficgen/traffic"
)

// everything has all that a flow may have: services, queries, background, flows
// that servers push, that stop, and that offer a rate.
const everything = `
name: everything
topology: {hosts: 5, rate: 100Mbps}
rtt: 1ms
switch:
  buffer: {per_port: 100KB}
  scheduler: {kind: dwrr, queues: 2}
schemes:
  - {name: droptail, aqm: droptail}
  - {name: tcn, aqm: tcn, threshold: 1ms}
workload: {sizes: {kind: fixed, size: 20KB}, flows: 30, load: 0.3, services: [1, 1]}
background:
  - {name: queries, arrival: {kind: incast, fan_out: 4, queries: 3, total: 40KB}, services: [1]}
  - {name: long, arrival: {kind: static, count: [2], start: [1ms], stop: [60ms], rate: [5Mbps], servers: [3]}, transfer: push}
`

// replayLab is a lab that replays a file in place of that traffic.
const replayLab = `
name: replaying
topology: {hosts: 5, rate: 100Mbps}
rtt: 1ms
switch:
  buffer: {per_port: 100KB}
  scheduler: {kind: dwrr, queues: 2}
schemes:
  - {name: droptail, aqm: droptail}
  - {name: tcn, aqm: tcn, threshold: 1ms}
workload: {arrival: {kind: trace, file: %q}, load: 0.3, services: [1, 1]}
`

// TestReplayOwnFlows: a stored point's flows.parquet, and the CSV that is
// exported of it, are the trace that made them, flow by flow. All runtimes
// replay what plan draws.
func TestReplayOwnFlows(t *testing.T) {
	out := t.TempDir()
	run, err := Run(t.Context(), parse(t, everything), RunOptions{Runtime: "sim", Jobs: 2, Out: out, Watcher: &diary{}})
	if err != nil {
		t.Fatal(err)
	}
	want := traceOf(t, everything)
	if !slices.ContainsFunc(want, func(f traffic.Flow) bool { return f.Push && f.Stop == 60*time.Millisecond && f.Rate > 0 }) ||
		!slices.ContainsFunc(want, func(f traffic.Flow) bool { return f.Query == 3 && f.Workload == 1 }) {
		t.Fatal("the trace lacks what it is there to test")
	}
	stored := filepath.Join(run.Dir, "tcn-load0.3-seed1", "flows.parquet")
	for _, file := range []string{stored, exportedFlows(t, stored, run)} {
		got := traceOf(t, fmt.Sprintf(replayLab, file))
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %d flows, want %d:\n%+v\n%+v", filepath.Base(file), len(got), len(want), got, want)
		}
	}
	again, err := Run(t.Context(), parse(t, fmt.Sprintf(replayLab, stored)), RunOptions{Runtime: "sim", Jobs: 2, Out: out, Watcher: &diary{}})
	if err != nil {
		t.Fatal(err)
	}
	// The same flows on the same network are the same run.
	for i, p := range again.Points() {
		first, err := run.Points()[i].Read()
		if err != nil {
			t.Fatal(err)
		}
		second, err := p.Read()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(first.Flows, second.Flows) {
			t.Errorf("%s: the replay measured other flows", p.Scheme)
		}
	}
	if _, err := compare.Runs([]*store.Run{run, again}, ""); err != nil {
		t.Errorf("a run and its replay are not compared: %v", err)
	}
}

func traceOf(t *testing.T, lab string) []traffic.Flow {
	t.Helper()
	points, err := plan(t.Context(), parse(t, lab), nil)
	if err != nil {
		t.Fatal(err)
	}
	return points[0].Flows
}

// exportedFlows is the CSV of one point: the header, and the lines of tcn.
func exportedFlows(t *testing.T, stored string, run *store.Run) string {
	t.Helper()
	var all bytes.Buffer
	if err := report.Export(&all, run, "flows", report.CSV); err != nil {
		t.Fatal(err)
	}
	var kept []byte
	for line := range bytes.Lines(all.Bytes()) {
		if kept == nil || bytes.HasPrefix(line, []byte("tcn,")) {
			kept = append(kept, line...)
		}
	}
	path := filepath.Join(t.TempDir(), "flows.csv")
	if err := os.WriteFile(path, kept, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
