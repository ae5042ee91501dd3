package sweep_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/sweeptest"
	"aqmlab/switch/port"
)

// run runs a sweep on this machine, and returns what was told of it.
func run(ctx context.Context, t *testing.T, s sweep.Store, w *sweep.Sweep) ([]sweep.Progress, error) {
	t.Helper()
	var told []sweep.Progress
	err := s.Run(ctx, sweep.Local(), w, sweep.Options{Watch: func(p sweep.Progress) { told = append(told, p) }})
	return told, err
}

// keys are those of a sweep's measurements.
func keys(w *sweep.Sweep) (keys []string) {
	for _, p := range w.Measurements() {
		keys = append(keys, p.Key)
	}
	return keys
}

// TestExpand: axes are crossed, and what a setting does not concern has one key.
func TestExpand(t *testing.T) {
	w := sweeptest.Expand(t, "workload.load=0.3,0.6", "schemes.tcn.threshold=50us,100us")
	if n, want := len(w.Points), 2*2*2*2; n != want { // loads, thresholds, seeds, schemes
		t.Errorf("%d points, want %d", n, want)
	}
	if n, want := len(w.Measurements()), 2*2*(1+2); n != want { // droptail once, tcn at both
		t.Errorf("%d keys, want %d", n, want)
	}
	for _, p := range w.Points {
		if p.Values[0] != "0.3" && p.Values[0] != "0.6" || (p.Values[0] == "0.3") != (p.Load == 0.3) {
			t.Errorf("%v has the values %v", p.Coord, p.Values)
		}
	}
}

// TestSameSweep: the same sweep has the same name and keys, and another threshold has
// others.
func TestSameSweep(t *testing.T) {
	a, b := sweeptest.Expand(t, "workload.load=0.3"), sweeptest.Expand(t, "workload.load=0.3")
	other := sweeptest.Expand(t, "workload.load=0.3", "schemes.tcn.threshold=99us")
	if a.Name != b.Name || !slices.Equal(keys(a), keys(b)) {
		t.Errorf("%s %v and %s %v", a.Name, keys(a), b.Name, keys(b))
	}
	if a.Name == other.Name {
		t.Errorf("both are %s", a.Name)
	}
	shared := 0
	for _, key := range keys(other) {
		if slices.Contains(keys(a), key) {
			shared++
		}
	}
	if shared != 2 { // droptail, two seeds
		t.Errorf("they share %d points, want 2", shared)
	}
}

func TestBadSpec(t *testing.T) {
	for set, why := range map[string]string{
		"schemes.red.threshold=1us": "red",
		"rtt.min=never":             "at rtt.min=never",
		"workload.load=2":           "workload.load",
	} {
		g, err := sweep.ParseGroup(set)
		if err != nil {
			t.Fatal(err)
		}
		_, err = sweep.Spec{Lab: "quickstart", Runtime: orchestrator.Simulator(), Groups: []sweep.Group{g}}.Expand()
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want an error with %q", set, err, why)
		}
	}
	twice := sweep.Spec{Lab: "quickstart", Runtime: orchestrator.Simulator(), Groups: []sweep.Group{{Keys: []string{"rtt.min"}, Rows: [][]string{{"1ms"}}}, {Keys: []string{"rtt.min"}, Rows: [][]string{{"2ms"}}}}}
	if _, err := twice.Expand(); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("%v, want an error", err)
	}
}

// TestRun: points are measured once, are ordinary runs, and another sweep that shares
// some measures the others alone.
func TestRun(t *testing.T) {
	s := sweep.Store{Dir: t.TempDir()}
	first := sweeptest.Expand(t, "workload.load=0.3,0.6")
	told, err := run(t.Context(), t, s, first)
	if err != nil || told[len(told)-1].Points != 8 {
		t.Fatalf("%+v, %v", told, err)
	}
	if told, err := run(t.Context(), t, s, first); err != nil || len(told) != 0 {
		t.Errorf("again: %+v, %v", told, err)
	}
	told, err = run(t.Context(), t, s, sweeptest.Expand(t, "workload.load=0.6,0.9"))
	if err != nil || told[len(told)-1].Of != 4 {
		t.Errorf("another: %+v, %v", told, err)
	}
	for _, p := range first.Points {
		r, err := s.Open(p.Key)
		if err != nil || len(r.Points()) != 1 || r.Points()[0].Coord != p.Coord {
			t.Errorf("%v: %v, %v", p.Coord, r, err)
		}
		if figures, err := s.Figures(p.Key); err != nil || figures.Values["all.avg"] <= 0 {
			t.Errorf("%v: %v, %v", p.Coord, figures, err)
		}
	}
	opened, err := s.Sweep(first.Name)
	if err != nil {
		t.Fatal(err)
	}
	if status, err := s.Status(opened); err != nil || status.Stored != 8 || status.Points != 8 {
		t.Errorf("%+v, %v", status, err)
	}
}

// TestInterrupted: what is measured stays, and the rest is measured later.
func TestInterrupted(t *testing.T) {
	s := sweep.Store{Dir: t.TempDir()}
	w := sweeptest.Expand(t, "workload.load=0.3..0.9/0.1")
	ctx, stop := context.WithCancel(t.Context())
	err := s.Run(ctx, sweep.Local(), w, sweep.Options{Watch: func(p sweep.Progress) {
		if p.Points == 3 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	todo, err := s.Todo(w, w.Measurements())
	if err != nil || len(todo) == 0 || len(todo) > 25 {
		t.Fatalf("%d to do, %v", len(todo), err)
	}
	if told, err := run(t.Context(), t, s, w); err != nil || told[len(told)-1].Of != len(todo) {
		t.Errorf("%+v, %v", told, err)
	}
}

// TestBusy: what another process measures is left to it, and taken over when it ends.
func TestBusy(t *testing.T) {
	s := sweep.Store{Dir: t.TempDir()}
	w := sweeptest.Expand(t)
	end := sweeptest.Begin(t, s, w, w.Points[0])
	err := s.Run(t.Context(), sweep.Local(), w, sweep.Options{Watch: func(p sweep.Progress) {
		if p.Points == len(w.Measurements())-1 {
			end()
		}
	}})
	if err != nil || !s.Has(w.Points[0].Key) {
		t.Errorf("%v", err)
	}
}

// TestFailed: a point that fails keeps no other from being measured, and is tried again
// on request alone.
func TestFailed(t *testing.T) {
	s := sweep.Store{Dir: t.TempDir()}
	w := sweeptest.Expand(t)
	if err := s.Save(w); err != nil {
		t.Fatal(err)
	}
	bad := w.Points[1]
	units := w.Units(w.Measurements())
	pool := sweep.Pool{Store: s, Runtime: orchestrator.Simulator()}
	units[1].Lab = nil
	units = slices.Delete(units, 1, 2)
	if err := pool.Run(t.Context(), units, func(sweep.Event) {}); err != nil {
		t.Fatal(err)
	}
	if err := w.NoteFailure(sweep.Unit{Coord: bad.Coord, Key: bad.Key}, errors.New("the kernel panicked"), "here"); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t.Context(), t, s, w); !errors.Is(err, sweep.ErrFailed) {
		t.Errorf("%v, want failed points", err)
	}
	failed, err := s.Failures(w)
	if err != nil || len(failed) != 1 || failed[0].Reason != "the kernel panicked" || failed[0].Coord != bad.Coord {
		t.Errorf("%+v, %v", failed, err)
	}
	if err := s.Run(t.Context(), sweep.Local(), w, sweep.Options{Retry: true, Watch: func(sweep.Progress) {}}); err != nil || !s.Has(bad.Key) {
		t.Errorf("retried: %v", err)
	}
}

// TestTogether: keys that change together are one axis, and loads among them are no
// other.
func TestTogether(t *testing.T) {
	w := sweeptest.Expand(t, "workload.load=0.3,0.6 with schemes.tcn.threshold=50us,100us", "host.init_cwnd=10,20")
	if len(w.Axes) != 2 || w.Axes[0].Key != "workload.load with schemes.tcn.threshold" || w.Axes[0].Values[1] != "0.6 with 100us" {
		t.Errorf("%+v", w.Axes)
	}
	if n, want := len(w.Points), 2*2*2*2; n != want { // rows, windows, seeds, schemes
		t.Errorf("%d points, want %d", n, want)
	}
	for _, p := range w.Points {
		if (p.Values[0] == "0.3 with 50us") != (p.Load == 0.3) {
			t.Errorf("%v has the values %v", p.Coord, p.Values)
		}
	}
}

// TestBook: the sweeps of the lab book expand.
func TestBook(t *testing.T) {
	book, err := labs.Book()
	if err != nil {
		t.Fatal(err)
	}
	swept := 0
	for _, entry := range book {
		lab, err := labs.FromBook(entry.Name, port.Kinds{})
		if err != nil {
			t.Fatal(err)
		}
		if len(lab.Sweep.Over)+len(lab.Sweep.Points) == 0 {
			continue
		}
		swept++
		groups, err := sweep.GroupsOf(lab)
		if err != nil {
			t.Fatal(err)
		}
		w, err := sweep.Spec{Lab: entry.Name, Groups: groups, Runtime: orchestrator.Simulator()}.Expand()
		if err != nil || len(w.Measurements()) < 3 {
			t.Errorf("%s: %v", entry.Name, err)
		}
	}
	if swept < 3 { // ECN# Fig. 18 with two workloads, MQ-ECN Fig. 13
		t.Errorf("%d labs have a sweep", swept)
	}
}
