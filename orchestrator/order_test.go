package orchestrator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"aqmlab/results"
)

// TestSeries: points that are made out of order are added in order, and no
// more of them are made at once than there are jobs.
func TestSeries(t *testing.T) {
	const n, jobs = 20, 3
	var running, most atomic.Int32
	gates := make([]chan struct{}, n)
	for i := range gates {
		gates[i] = make(chan struct{})
	}
	close(gates[1]) // the second opens the first, the fourth the third ...
	var added []uint64
	err := (series{jobs, n, func(_ context.Context, i int) (results.Point, error) {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		if i%2 == 0 {
			<-gates[i]
		} else {
			close(gates[i-1])
		}
		return results.Point{Coord: results.Coord{Seed: uint64(i)}}, nil
	}, func(p results.Point) error {
		added = append(added, p.Seed)
		return nil
	}}).run(t.Context())
	if err != nil || len(added) != n || !slices.IsSorted(added) {
		t.Errorf("%v: added %v", err, added)
	}
	if most.Load() > jobs {
		t.Errorf("%d at once, want at most %d", most.Load(), jobs)
	}
}

// TestSeriesFails: what was made before the first failure is kept, and the
// error is that of the failure.
func TestSeriesFails(t *testing.T) {
	broken := errors.New("broken")
	var added int
	err := (series{1, 5, func(ctx context.Context, i int) (results.Point, error) {
		if i == 3 {
			return results.Point{}, broken
		}
		return results.Point{}, ctx.Err()
	}, func(results.Point) error {
		added++
		return nil
	}}).run(t.Context())
	if !errors.Is(err, broken) || added != 3 {
		t.Errorf("%v after %d points, want the failure after 3", err, added)
	}
	full := errors.New("disk full")
	err = (series{2, 5, func(context.Context, int) (results.Point, error) { return results.Point{}, nil },
		func(results.Point) error { return full }}).run(t.Context())
	if !errors.Is(err, full) {
		t.Errorf("adding failed: %v", err)
	}
}

// TestSeriesCancelled: the error is that of the point that was going on, and the
// cause itself when none was.
func TestSeriesCancelled(t *testing.T) {
	cause, named := errors.New("enough"), errors.New("point 0")
	add := func(results.Point) error { return nil }
	for range 2000 { // whoever is asked first
		ctx, cancel := context.WithCancelCause(t.Context())
		err := (series{1, 3, func(context.Context, int) (results.Point, error) {
			cancel(cause)
			return results.Point{}, named
		}, add}).run(ctx)
		if !errors.Is(err, named) {
			t.Fatalf("error %v, want that of the point", err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := (series{1, 3, nil, add}).run(ctx); !errors.Is(err, cause) {
		t.Errorf("before the first point: %v, want the cause", err)
	}
}

// TestRunVirtual: a run in virtual time needs no rights, completes every flow,
// and stores the same bytes however many points run at once.
func TestRunVirtual(t *testing.T) {
	var files [2][]string
	for i, jobs := range []int{1, 2} {
		out := t.TempDir()
		run, err := Run(t.Context(), parse(t, small), RunOptions{Runtime: "sim", Jobs: jobs, Out: out, Watcher: &diary{}})
		if err != nil {
			t.Fatal(err)
		}
		if m := run.Manifest; m.State != results.Complete || m.Runtime != "sim" || m.Dilation != 1 || m.Transport.Provider != "model" || len(m.Points) != 8 {
			t.Errorf("manifest %+v", m)
		}
		for _, p := range run.Manifest.Points {
			if p.Completed != p.Flows || p.Fidelity.Label != results.FidelityExact {
				t.Errorf("point %+v", p)
			}
		}
		files[i] = pointFiles(t, run.Dir)
	}
	if !slices.Equal(files[0], files[1]) {
		t.Error("two points at once are stored otherwise than one after another")
	}
}

// pointFiles are the names and contents of all files of a run's points.
func pointFiles(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if err != nil || d.IsDir() || !strings.Contains(rel, string(filepath.Separator)) {
			return err
		}
		data, err := os.ReadFile(path)
		files = append(files, rel, string(data))
		return err
	})
	if err != nil || len(files) < 6 {
		t.Fatalf("%v: %d files", err, len(files))
	}
	return files
}

// TestVirtualPointFails: an error says which point it was.
func TestVirtualPointFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := &diary{onBegin: func(Point) { cancel() }}
	_, err := Run(ctx, parse(t, small), RunOptions{Runtime: "sim", Jobs: 1, Out: t.TempDir(), Watcher: w})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "running droptail at load 0.3, seed 1") {
		t.Errorf("cancelled: %v", err)
	}
}
