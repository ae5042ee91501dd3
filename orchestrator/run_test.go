//go:build linux

package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/uml"
	"aqmlab/results"
	"aqmlab/trafficgen/traffic"
)

// TestPlan: every load and seed is run under every scheme, the schemes in a
// row and on the very same trace; other loads and seeds have other traces.
func TestPlan(t *testing.T) {
	points, err := plan(t.Context(), parse(t, small), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range points {
		got = append(got, fmt.Sprintf("%s %v %d", p.Scheme, p.Load, p.Seed))
	}
	want := []string{
		"droptail 0.3 1", "tcn 0.3 1", "droptail 0.3 2", "tcn 0.3 2",
		"droptail 0.5 1", "tcn 0.5 1", "droptail 0.5 2", "tcn 0.5 2",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("points %q, want %q", got, want)
	}
	for i := 0; i < len(points); i += 2 {
		if len(points[i].Flows) != 12 || !slices.Equal(points[i].Flows, points[i+1].Flows) {
			t.Errorf("points %s and %s have different traces", got[i], got[i+1])
		}
		if i > 0 && slices.Equal(points[i].Flows, points[i-1].Flows) {
			t.Errorf("points %s and %s have the same trace", got[i-1], got[i])
		}
	}
}

// TestName: what is left of a run is told in wall time.
func TestName(t *testing.T) {
	b := &backend.Backend{Manifest: results.Manifest{Dilation: 3}}
	at := func(d time.Duration) []traffic.Flow { return []traffic.Flow{{Start: 1}, {Start: d}} }
	points := []backend.Point{
		{Coord: results.Coord{Scheme: "a", Load: 0.5, Seed: 7}, Flows: at(time.Second)},
		{Coord: results.Coord{Scheme: "b"}, Flows: at(2 * time.Second)},
		{Coord: results.Coord{Scheme: "c"}, Flows: at(4 * time.Second)},
	}
	want := Point{Coord: results.Coord{Scheme: "a", Load: 0.5, Seed: 7}, Number: 1, Of: 3, Flows: 2, Lasts: 3 * time.Second, After: 18 * time.Second}
	if got := name(points, 0, b); got != want {
		t.Errorf("first point %+v, want %+v", got, want)
	}
	if got := name(points, 2, b); got.Number != 3 || got.Lasts != 12*time.Second || got.After != 0 {
		t.Errorf("last point %+v", got)
	}
}

// TestRun: a run stores what its watcher was shown, with how it was made.
func TestRun(t *testing.T) {
	needRoot(t)
	lab := parse(t, small)
	lab.Workload.Load, lab.Seeds = []float64{0.5}, []uint64{3}
	var d diary
	root := t.TempDir()
	run, err := Run(t.Context(), lab, RunOptions{Root: root, Runtime: "netns", Out: t.TempDir(), Watcher: &d})
	if err != nil {
		t.Fatal(err)
	}
	emptyRoot(t, root)
	want := []string{"begin droptail 1/2", "progress droptail", "end droptail", "begin tcn 2/2", "progress tcn", "end tcn"}
	if !slices.Equal(d.events, want) {
		t.Errorf("the watcher saw %q, want %q", d.events, want)
	}
	if !slices.ContainsFunc(d.notes, func(n string) bool {
		return strings.Contains(n, "3 hosts, dctcp") && strings.Contains(n, "dilation 2")
	}) {
		t.Errorf("notes %q, want that one describes the testbed", d.notes)
	}
	m := run.Manifest
	if m.State != results.Complete || m.Lab != "small" || m.Runtime != "netns" || m.Dilation != 2 || m.BaseRTT <= 0 ||
		m.Transport.Name != "dctcp" || m.Transport.Provider == "" || m.Baseline != "droptail" ||
		!slices.Equal(m.Schemes, []string{"droptail", "tcn"}) || !slices.Equal(m.Loads, lab.Workload.Load) || !slices.Equal(m.Seeds, lab.Seeds) {
		t.Errorf("manifest %+v", m)
	}
	stored := run.Points()
	if len(stored) != 2 {
		t.Fatalf("%d points stored", len(stored))
	}
	for i, s := range stored {
		p, err := s.Read()
		if err != nil {
			t.Fatal(err)
		}
		if p.Scheme != d.points[i].Scheme || !reflect.DeepEqual(p.Flows, d.points[i].Flows) || !reflect.DeepEqual(p.Ports, d.points[i].Ports) {
			t.Errorf("point %d is stored otherwise than it was shown", i)
		}
	}
}

// TestInterruptedRun: a run that is interrupted returns the points that are
// whole, says why it ended, and leaves nothing.
func TestInterruptedRun(t *testing.T) {
	needRoot(t)
	enough := errors.New("had enough")
	for kept := range 2 {
		t.Run(fmt.Sprintf("after %d points", kept), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			d := diary{onBegin: func(p Point) {
				if p.Number == kept+1 {
					cancel(enough)
				}
			}}
			root := t.TempDir()
			run, err := Run(ctx, parse(t, small), RunOptions{Root: root, Runtime: "netns", Out: t.TempDir(), Watcher: &d})
			if !errors.Is(err, enough) {
				t.Errorf("error %v, want %v", err, enough)
			}
			emptyRoot(t, root)
			switch {
			case kept == 0 && run != nil:
				t.Errorf("a run without any point: %+v", run.Manifest)
			case kept > 0 && (run == nil || len(run.Points()) != kept || run.Manifest.State != results.Partial):
				t.Errorf("run %+v, want a partial one of %d points", run, kept)
			}
		})
	}
}

// TestRunFailsBeforeItBegins: a lab that cannot be run brings nothing up.
func TestRunFailsBeforeItBegins(t *testing.T) {
	lab := parse(t, small)
	lab.Workload.Pattern = "none-to-none"
	root := t.TempDir()
	if _, err := Run(t.Context(), lab, RunOptions{Root: root, Runtime: "netns", Out: t.TempDir(), Watcher: &diary{}}); err == nil {
		t.Error("an unknown pattern is no error")
	}
	emptyRoot(t, root)
}

// TestNoGuestKernel: what needs one says how to get it, and makes nothing.
func TestNoGuestKernel(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	out := t.TempDir()
	for version, command := range map[string]string{"6.1": "aqmlab kernel build makes", "6.12": "aqmlab kernel build --version 6.12 makes"} {
		lab := parse(t, small)
		lab.Host.Kernel = version
		_, err := Run(t.Context(), lab, RunOptions{Runtime: "uml", Out: out, Watcher: &diary{}})
		if !errors.Is(err, uml.ErrUnavailable) || !strings.Contains(err.Error(), command) {
			t.Errorf("run on %s: %v", version, err)
		}
	}
	if made, err := os.ReadDir(out); err != nil || len(made) > 0 {
		t.Errorf("made %v, %v", made, err)
	}
}

// TestUnwritableResults: a folder that cannot take the run is found out about before
// anything is brought up.
func TestUnwritableResults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	opened := false
	rows := []backend.Row{{Name: "sim", Open: func(context.Context, *labs.Lab, backend.Options) (*backend.Backend, error) {
		opened = true
		return nil, errors.New("opened")
	}}}
	_, err := Run(t.Context(), parse(t, small), RunOptions{Runtime: "sim", Runtimes: rows, Out: filepath.Join(file, "runs"), Watcher: &diary{}})
	if err == nil || !strings.Contains(err.Error(), file) || opened {
		t.Errorf("opened %t, error %v", opened, err)
	}
}
