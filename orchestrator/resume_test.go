package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
	"aqmlab/results/store"
)

// stopper ends a run when so many of its points are done, and remembers which
// were begun.
type stopper struct {
	diary
	after int
	stop  context.CancelFunc
	begun []string
}

func (s *stopper) Begin(p Point) {
	s.begun = append(s.begun, fmt.Sprintf("%s %v %d", p.Scheme, p.Load, p.Seed))
}

func (s *stopper) Progress(Point, backend.Progress) {}

func (s *stopper) End(Point, results.Point) {
	if s.after--; s.after == 0 {
		s.stop()
	}
}

// cut is a run of small that was interrupted after its third point.
func cut(t *testing.T, out string) *store.Run {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	run, err := Run(ctx, parse(t, small), RunOptions{Runtime: "sim", Jobs: 1, Out: out, Watcher: &stopper{after: 3, stop: cancel}})
	if !errors.Is(err, context.Canceled) || run == nil || len(run.Points()) == 0 || len(run.Points()) > 3 {
		t.Fatalf("interrupted: %v, %v", run, err)
	}
	if run.Manifest.State != results.Partial || run.Manifest.Reason != "interrupted" {
		t.Errorf("the run is %s: %s", run.Manifest.State, run.Manifest.Reason)
	}
	return run
}

// TestResume: an interrupted run goes on with the points that it lacks, and then
// has the very bytes of one that was not interrupted.
func TestResume(t *testing.T) {
	early := cut(t, t.TempDir())
	var had []string
	for _, p := range early.Points() {
		had = append(had, fmt.Sprintf("%s %v %d", p.Scheme, p.Load, p.Seed))
	}
	w := &stopper{}
	run, err := Run(t.Context(), parse(t, small), RunOptions{Jobs: 2, Resume: early, Watcher: w})
	if err != nil {
		t.Fatal(err)
	}
	if run.Dir != early.Dir || run.Manifest.State != results.Complete || len(run.Points()) != 8 || len(w.begun) != 8-len(had) {
		t.Errorf("run %s is %s with %d points, of which %d were run", run.Dir, run.Manifest.State, len(run.Points()), len(w.begun))
	}
	for _, p := range w.begun {
		if slices.Contains(had, p) {
			t.Errorf("%s was run again", p)
		}
	}
	whole, err := Run(t.Context(), parse(t, small), RunOptions{Runtime: "sim", Jobs: 2, Out: t.TempDir(), Watcher: &diary{}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(pointFiles(t, run.Dir), pointFiles(t, whole.Dir)) {
		t.Error("the resumed run is stored otherwise than one that was not interrupted")
	}
	again := &stopper{}
	if run, err = Run(t.Context(), parse(t, small), RunOptions{Resume: run, Watcher: again}); err != nil || len(again.begun) > 0 || len(run.Manifest.Resumed) != 1 {
		t.Errorf("a complete run: %v, began %v, resumed %v", err, again.begun, run.Manifest.Resumed)
	}
}

// TestResumeRetitled: what is there for readers, and the dilation that a run keeps, make no
// other points: none is measured again.
func TestResumeRetitled(t *testing.T) {
	early := cut(t, t.TempDir())
	had := len(early.Points())
	w := &stopper{}
	lab := parse(t, strings.Replace(small, "dilation: 2", "dilation: 3", 1)+"title: another title\nsource: {paper: another paper}\n")
	run, err := Run(t.Context(), lab, RunOptions{Jobs: 2, Resume: early, Watcher: w})
	if err != nil || len(run.Points()) != 8 || len(w.begun) != 8-had {
		t.Errorf("%v: of 8 points %d were there, and %d were run", err, had, len(w.begun))
	}
}

// TestResumeFinishes: a run that was killed when all its points were there is
// given its name.
func TestResumeFinishes(t *testing.T) {
	run, err := Run(t.Context(), parse(t, small), RunOptions{Runtime: "sim", Jobs: 2, Out: t.TempDir(), Watcher: &diary{}})
	if err != nil {
		t.Fatal(err)
	}
	root, name := filepath.Split(run.Dir)
	left := filepath.Join(root, ".partial-"+name)
	if err := os.Rename(run.Dir, left); err != nil {
		t.Fatal(err)
	}
	killed, err := store.Open(left)
	if err != nil {
		t.Fatal(err)
	}
	finished, err := Run(t.Context(), parse(t, small), RunOptions{Resume: killed, Watcher: &diary{}})
	if err != nil || finished.Dir != run.Dir || len(finished.Points()) != 8 {
		t.Errorf("%v, %v: want %s", finished, err, run.Dir)
	}
}

// TestNotResumed: another lab, another runtime and other flows are refused, and
// leave the run as it was.
func TestNotResumed(t *testing.T) {
	early := cut(t, t.TempDir())
	trace := filepath.Join(t.TempDir(), "own.csv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(trace, []byte("start,client,server,bytes\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1ms,0,1,1000\n2ms,0,1,1000\n")
	replayed := fmt.Sprintf("{name: own, topology: {hosts: 2, rate: 100Mbps}, schemes: [{name: droptail, aqm: droptail}, {name: tcn, aqm: tcn, threshold: 1ms}], workload: {arrival: {kind: trace, file: %s}, load: 0.5}}", trace)
	ctx, cancel := context.WithCancel(t.Context())
	own, err := Run(ctx, parse(t, replayed), RunOptions{Runtime: "sim", Jobs: 1, Out: t.TempDir(), Watcher: &stopper{after: 1, stop: cancel}})
	if own == nil || len(own.Points()) != 1 {
		t.Fatalf("interrupted: %v, %v", own, err)
	}
	write("1ms,0,1,1000\n2ms,0,1,1001\n")
	for want, c := range map[string]struct {
		run     *store.Run
		lab     *labs.Lab
		runtime Runtime
	}{
		"runtime: sim then, netns now": {early, parse(t, small), "netns"},
		"lab key seeds: ":              {early, parse(t, small, func(l *labs.Lab) { l.Seeds = []uint64{1, 2, 3} }), "sim"},
		"lab key workload.flows: ":     {early, parse(t, small, func(l *labs.Lab) { l.Workload.Flows++ }), Auto},
		"droptail at load 0.5, seed 1 replayed other flows: flow 1 is another now": {own, parse(t, replayed), "sim"},
	} {
		before := len(c.run.Points())
		_, err := Run(t.Context(), c.lab, RunOptions{Runtime: c.runtime, Resume: c.run, Watcher: &diary{}})
		if !errors.Is(err, ErrNotResumed) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if e := store.EntryOf(c.run.Dir); e.State != results.Partial || e.Points != before {
			t.Errorf("%s: the run is %+v", want, e)
		}
	}
	write("1ms,0,1,1000\n")
	if _, err := Run(t.Context(), parse(t, replayed), RunOptions{Resume: own, Watcher: &diary{}}); err == nil || !strings.Contains(err.Error(), "replayed other flows: 2, and the lab has 1 now") {
		t.Errorf("fewer flows: %v", err)
	}
}
