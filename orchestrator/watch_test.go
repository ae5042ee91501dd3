package orchestrator

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
	"aqmlab/results/store"
)

// TestPublisher: a state is published at the beginning and then once a second,
// with a look at the point; what others are told stays the same.
func TestPublisher(t *testing.T) {
	now := time.Unix(1e9, 0)
	var shown []results.Live
	var d diary
	p := newPublisher(&d, func(l results.Live) error { shown = append(shown, l); return nil })
	p.now = func() time.Time { return now }
	point := Point{Coord: results.Coord{Scheme: "tcn", Load: 0.5, Seed: 3}, Number: 2, Of: 4, Flows: 100}
	looks := 0
	look := func() (results.Seen, error) {
		looks++
		return results.Seen{FCT: map[results.Class]results.FCT{results.All: {Count: looks}}}, nil
	}
	p.Begin(point)
	for range 25 { // 2.5 s
		p.Progress(point, backend.Progress{Completed: 7, Failed: 1, Look: look})
		now = now.Add(100 * time.Millisecond)
	}
	if len(shown) != 3 || looks != 3 {
		t.Fatalf("published %d times with %d looks in 2.5 s, want 3 and 3", len(shown), looks)
	}
	if d.last.FCT[results.All].Count != 3 {
		t.Errorf("the watcher was told of %+v", d.last)
	}
	last := shown[2]
	if got := last.Points[0]; last.Of != 4 || got.Scheme != "tcn" || got.Completed != 7 || got.Failed != 1 || got.Done || got.FCT[results.All].Count != 3 {
		t.Errorf("published %+v", last)
	}
	now = now.Add(time.Second)
	p.End(point, results.Point{Flows: []results.Flow{{Bytes: 5, Received: 5, FCT: time.Millisecond}, {Error: "lost"}}})
	if got := shown[3].Points[0]; !got.Done || got.Completed != 1 || got.Failed != 1 || got.FCT[results.Small].Count != 1 || got.Queue != nil {
		t.Errorf("at the end %+v", got)
	}
}

// TestPublisherGivesUp: a run goes on when it cannot be watched, and says so
// once.
func TestPublisherGivesUp(t *testing.T) {
	now := time.Unix(1e9, 0)
	full := errors.New("no space left")
	good := func() (results.Seen, error) { return results.See(nil, nil), nil }
	bad := func() (results.Seen, error) { return results.Seen{}, full }
	for name, c := range map[string]struct {
		publish func(results.Live) error
		look    func() (results.Seen, error)
	}{
		"writing": {func(results.Live) error { return full }, good},
		"looking": {func(results.Live) error { return nil }, bad},
	} {
		w := &notes{}
		p := newPublisher(w, c.publish)
		p.now = func() time.Time { return now }
		point := Point{Number: 1}
		p.Begin(point)
		for range 5 {
			now = now.Add(time.Minute)
			p.Progress(point, backend.Progress{Look: c.look})
		}
		p.End(point, results.Point{})
		if wrote := name == "writing"; wrote != (w.last.FCT != nil) {
			t.Errorf("%s: the watcher was told last of %+v", name, w.last)
		}
		if len(w.texts) != 1 || !strings.Contains(w.texts[0], "no space left") {
			t.Errorf("%s: notes %q", name, w.texts)
		}
	}
}

// notes keeps what a watcher is to tell, and what was seen last.
type notes struct {
	texts []string
	last  results.Seen
}

func (n *notes) Note(text string)                     { n.texts = append(n.texts, text) }
func (*notes) Begin(Point)                            {}
func (n *notes) Progress(_ Point, s backend.Progress) { n.last = s.Last }
func (*notes) End(Point, results.Point)               {}

// peek looks at a run's folder whenever a point goes on.
type peek struct {
	notes
	root string
	seen []results.Live
	look []results.Seen
	errs []error
}

func (p *peek) Progress(_ Point, s backend.Progress) {
	growing, err := store.Growing(p.root)
	if err == nil && len(growing) == 1 {
		var l results.Live
		if l, err = store.ReadLive(growing[0].Dir); err == nil {
			p.seen = append(p.seen, l)
		}
	}
	p.errs = append(p.errs, err)
	seen, err := s.Look()
	p.look, p.errs = append(p.look, seen), append(p.errs, err)
}

// TestRunsCanBeWatched, in virtual time: others see the run while it is made,
// and nothing of that is left in the folder.
func TestRunsCanBeWatched(t *testing.T) {
	w := &peek{root: t.TempDir()}
	run, err := Run(t.Context(), parse(t, small), RunOptions{Runtime: "sim", Jobs: 1, Out: w.root, Watcher: w})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.errs...); err != nil {
		t.Fatal(err)
	}
	if len(w.seen) == 0 || w.seen[0].Of != len(run.Points()) || w.seen[0].Points[0].Scheme != run.Points()[0].Scheme {
		t.Errorf("seen %+v", w.seen)
	}
	// The small lab is over before the first look, so that this one saw it all.
	if got := w.look[0]; got.FCT[results.All].Count != 12 || got.Queue == nil {
		t.Errorf("looked at %+v", got)
	}
	left, err := filepath.Glob(filepath.Join(run.Dir, "progress*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q left, %v", left, err)
	}
}

// TestWatchingChangesNothing: results do not depend on who looks, however often.
func TestWatchingChangesNothing(t *testing.T) {
	lab := parse(t, small+"capture: {format: pcapng, ports: [s1:h1]}\n")
	lab.Workload.Flows = 200 // more than goes on between two looks
	var dirs []string
	for _, w := range []Watcher{&notes{}, &peek{root: t.TempDir()}} {
		out := t.TempDir()
		if p, ok := w.(*peek); ok {
			p.root = out
		}
		dirs = append(dirs, storedBy(t, lab, w, out))
	}
	for _, name := range []string{"flows.parquet", "series.parquet", "goodput.parquet", "capture.pcapng", "point.json"} {
		var files [][]byte
		for _, dir := range dirs {
			found, err := filepath.Glob(filepath.Join(dir, "*-seed1", name))
			if err != nil || len(found) == 0 {
				t.Fatalf("%q, %v", found, err)
			}
			b, err := os.ReadFile(found[0])
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, b)
		}
		if string(files[0]) != string(files[1]) {
			t.Errorf("%s differs", name)
		}
	}
}

func storedBy(t *testing.T, lab *labs.Lab, w Watcher, out string) string {
	t.Helper()
	run, err := Run(t.Context(), lab, RunOptions{Runtime: "sim", Jobs: 2, Out: out, Watcher: w})
	if err != nil {
		t.Fatal(err)
	}
	return run.Dir
}
