package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vbauerster/mpb/v8"

	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/sweep"
	"aqmlab/results"
)

// TestLeft: on the wall clock, what a run still takes are the starts of the
// trace to come, and the points that follow, in whole seconds.
func TestLeft(t *testing.T) {
	tests := []struct {
		lasts, after, elapsed time.Duration
		want                  string
	}{
		{10 * time.Second, 0, 0, "10s"},
		{10 * time.Second, time.Minute, 0, "1m10s"},
		{10 * time.Second, time.Minute, 4 * time.Second, "1m6s"},
		{10 * time.Second, time.Minute, 10 * time.Second, "1m0s"},
		{10 * time.Second, time.Minute, time.Hour, "1m0s"}, // the last flows take their time
		{10 * time.Second, 0, time.Hour, "0s"},
		{1600 * time.Millisecond, 0, 0, "2s"},
	}
	for _, tt := range tests {
		r := orchestrator.NewRemainder(time.Now)
		if got := left(r, orchestrator.Point{Lasts: tt.lasts, After: tt.after}, tt.elapsed); got != tt.want+" left" {
			t.Errorf("%v and %v after, %v in: %s, want %s left", tt.lasts, tt.after, tt.elapsed, got, tt.want)
		}
	}
}

// TestLeftInVirtualTime: flows that have ended, of whatever points, tell how
// long the others take.
func TestLeftInVirtualTime(t *testing.T) {
	now := time.Unix(1e9, 0)
	r := orchestrator.NewRemainder(func() time.Time { return now })
	first, second := orchestrator.Point{Number: 1, Of: 4, Flows: 100}, orchestrator.Point{Number: 2, Of: 4, Flows: 100}
	if got := left(r, first, 0); got != "unknown time left" {
		t.Errorf("at the beginning: %s", got)
	}
	now = now.Add(10 * time.Second)
	note(r, first, 30)
	note(r, second, 10)
	if got := left(r, first, 0); got != "1m30s left" { // 40 of 400 took 10 s
		t.Errorf("with 40 of 400 flows done in 10 s: %s", got)
	}
}

func tcnPoint() orchestrator.Point {
	return orchestrator.Point{Coord: results.Coord{Scheme: "tcn", Load: 0.5, Seed: 3}, Number: 2, Of: 4, Flows: 100, Lasts: 20 * time.Second, After: 40 * time.Second}
}

// smallSeen is a look at a point of which so many small flows completed.
func smallSeen(count int, p99 float64) results.Seen {
	return results.Seen{FCT: map[results.Class]results.FCT{results.Small: {Count: count, P99: p99}}}
}

// TestSmallP99 is in three digits, and left out until there is one.
func TestSmallP99(t *testing.T) {
	for us, want := range map[float64]string{
		0.25: "300ns", 99.94: "99.9µs", 495.8: "496µs", 25281.4: "25.3ms", 2_345_678: "2.35s",
	} {
		if got := smallP99(results.FCT{Count: 1, P99: us}); got != ", small p99 "+want {
			t.Errorf("%v us: %q, want %s", us, got, want)
		}
	}
	if got := smallP99(results.FCT{}); got != "" {
		t.Errorf("without a small flow: %q", got)
	}
}

func state(completed, failed int64) backend.Progress {
	return backend.Progress{Completed: completed, Failed: failed}
}

// TestLines: a line at a point's begin, one every five seconds, one at its end,
// and one for each reason not to trust it.
func TestLines(t *testing.T) {
	now := time.Unix(1e9, 0)
	var out bytes.Buffer
	l := newLines(&out, func() time.Time { return now })
	p := tcnPoint()
	expect := func(want ...string) {
		t.Helper()
		line := out.String()
		out.Reset()
		if len(want) == 0 && line != "" || len(want) > 0 && strings.Count(line, "\n") != 1 {
			t.Errorf("printed %q", line)
		}
		for _, w := range want {
			if !strings.Contains(line, w) {
				t.Errorf("%q is not in %q", w, line)
			}
		}
	}
	pass := func(d time.Duration, completed int64) {
		now = now.Add(d)
		l.Progress(p, state(completed, 1))
	}
	l.Begin(p)
	expect("[2/4] tcn", "load 0.5", "seed 3", "100 flows", "1m0s left")
	pass(0, 0)
	expect()
	pass(4999*time.Millisecond, 10)
	expect()
	pass(time.Millisecond, 20)
	expect("[2/4] tcn", "21/100 flows", "55s left")
	pass(4*time.Second, 30)
	expect()
	now = now.Add(time.Second)
	l.Progress(p, backend.Progress{Completed: 40, Failed: 1, Last: smallSeen(12, 25281.4)})
	expect("41/100 flows, small p99 25.3ms, 50s left in all")
	pass(time.Hour, 99)
	expect("100/100 flows", "40s left")

	now = now.Add(1234 * time.Millisecond)
	l.End(p, results.Point{Flows: []results.Flow{{Bytes: 1, Received: 1, FCT: 3 * time.Millisecond}, {Bytes: 1, Error: "stalled"}}})
	expect("[2/4] tcn", "1/100 flows done in 1h0m11.2s, small p99 3ms")

	l.Note("calibrated")
	expect("calibrated")
	l.Begin(p)
	out.Reset()
	l.End(p, results.Point{Fidelity: results.Fidelity{Label: results.FidelityLow, Reasons: []string{"busy", "late"}}})
	if got := out.String(); strings.Count(got, "low fidelity: ") != 2 || !strings.Contains(got, "busy") || !strings.Contains(got, "late") {
		t.Errorf("a point of low fidelity ends with %q", got)
	}
	out.Reset()
	l.close()
	expect()
}

// TestPrintProgress: nobody is told that nothing is left because nobody knows what is.
func TestPrintProgress(t *testing.T) {
	for want, p := range map[string]sweep.Progress{
		"[0/8] going on; unknown time left\n":         {Of: 8, Left: -1},
		"[3/8, 1 failed] a: done; about 1m30s left\n": {Points: 3, Failed: 1, Of: 8, Just: "a: done", Left: 90 * time.Second},
	} {
		var out bytes.Buffer
		if printProgress(&out, p); out.String() != want {
			t.Errorf("%+v: %q, want %q", p, out.String(), want)
		}
	}
}

// TestBars: bars come to their end, whether or not the run does.
func TestBars(t *testing.T) {
	for _, whole := range []bool{true, false} {
		t.Run(fmt.Sprint("whole ", whole), func(t *testing.T) {
			var out bytes.Buffer
			b := newBars(glyphs(" _.-:=+*#"), func() int { return 9 }, mpb.WithOutput(&out), mpb.WithAutoRefresh())
			b.Note("calibrated")
			p := tcnPoint()
			b.Begin(p)
			b.Progress(p, backend.Progress{Completed: 50, Failed: 1, Last: smallSeen(20, 7100)})
			if whole {
				b.End(p, results.Point{Flows: []results.Flow{{Bytes: 1, Received: 1, FCT: 3 * time.Millisecond}}, Fidelity: results.Fidelity{Label: results.FidelityLow, Reasons: []string{"busy"}}})
			}
			b.close() // waits for what draws
			if got := out.String(); !strings.Contains(got, "calibrated") || strings.Contains(got, "low fidelity: busy") != whole || strings.Contains(got, "1/100 flows done in 0s, small p99 3ms") != whole ||
				!whole && !strings.Contains(got, "51/100, small p99 7.1ms, ") {
				t.Errorf("drawn %q", got)
			}
		})
	}
}

// TestBarsOfNothing: a run that fails before its first point draws none.
func TestBarsOfNothing(t *testing.T) {
	var out bytes.Buffer
	b := newBars(glyphs(" _.-:=+*#"), func() int { return 9 }, mpb.WithOutput(&out), mpb.WithAutoRefresh())
	b.close()
	if out.Len() > 0 {
		t.Errorf("drawn %q", &out)
	}
}

func TestWatcherOfAFile(t *testing.T) {
	if _, ok := newWatcher(&bytes.Buffer{}, false).(*lines); !ok {
		t.Error("bars are drawn into what is no terminal")
	}
}
