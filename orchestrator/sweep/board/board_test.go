package board

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/orchestrator"
	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/sweeptest"
	"aqmlab/results"
	"aqmlab/results/serve"
)

// ask asks the board for a path, as a browser on this machine does.
func ask(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
	return w
}

func listed(t *testing.T, h http.Handler) (all []results.SweepStatus) {
	t.Helper()
	if w := ask(h, "/api/sweeps"); w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &all) != nil {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return all
}

// TestBoard: a sweep goes from waiting to stored, as who looks in a browser sees it.
func TestBoard(t *testing.T) {
	s := sweep.Store{Dir: t.TempDir()}
	h := serve.Handler(serve.Content{Runs: t.TempDir(), Sweeps: New(s)})
	if all := listed(t, h); len(all) != 0 {
		t.Errorf("before the first: %+v", all)
	}
	w := sweeptest.Expand(t, "workload.load=0.3,0.6", "schemes.tcn.threshold=50us,100us")
	if err := s.Save(w); err != nil {
		t.Fatal(err)
	}
	at := func(want ...string) results.SweepStatus {
		t.Helper()
		got := listed(t, h)[0]
		var cells []string
		for _, row := range got.Rows {
			cells = append(cells, row.Label+"|"+row.Cells)
		}
		if !slices.Equal(cells, want) {
			t.Errorf("cells %q, want %q", cells, want)
		}
		return got
	}
	got := at("droptail|wwww", "tcn, threshold 50us|wwww", "tcn, threshold 100us|wwww")
	if got.Name != w.Name || got.Points != 12 || got.Left != 0 || !slices.Equal(got.Columns, []string{"load 0.3", "load 0.3", "load 0.6", "load 0.6"}) || !slices.Equal(got.Seeds, []uint64{1, 2, 1, 2}) {
		t.Errorf("%+v", got)
	}

	find := func(scheme, load, threshold string) sweep.Point {
		return w.Points[slices.IndexFunc(w.Points, func(p sweep.Point) bool {
			return p.Scheme == scheme && p.Seed == 2 && p.Values[0] == load && p.Values[1] == threshold
		})]
	}
	bad, busy, done := find("tcn", "0.3", "50us"), find("tcn", "0.6", "100us"), find("droptail", "0.6", "50us")
	if err := w.NoteFailure(sweep.Unit{Coord: bad.Coord, Key: bad.Key}, errors.New("the <b>kernel</b> panicked"), "here"); err != nil {
		t.Fatal(err)
	}
	end := sweeptest.Begin(t, s, w, busy)
	locks, err := filepath.Glob(filepath.Join(s.Dir, "points", "*", ".lock-*"))
	if err != nil || len(locks) != 1 {
		t.Fatal(locks, err)
	}
	pool := sweep.Pool{Store: s, Runtime: orchestrator.Simulator()}
	if err := pool.Run(t.Context(), w.Units([]sweep.Point{done}), func(sweep.Event) {}); err != nil {
		t.Fatal(err)
	}
	got = at("droptail|wwws", "tcn, threshold 50us|wfww", "tcn, threshold 100us|wwwm")
	if got.Stored != 1 || got.Failed != 1 || got.Measuring != 1 || got.Left <= 0 {
		t.Errorf("%+v", got)
	}
	if f := got.Failures; len(f) != 1 || f[0].Row != 1 || f[0].Column != 1 || f[0].Reason != "the <b>kernel</b> panicked" {
		t.Errorf("failures %+v", f)
	}
	end()
	// What a killed process leaves is not being measured.
	if err := os.WriteFile(locks[0], nil, 0o644); err != nil {
		t.Fatal(err)
	}
	at("droptail|wwws", "tcn, threshold 50us|wfww", "tcn, threshold 100us|wwww")
	if page := ask(h, "/response?sweep="+w.Name); page.Code != http.StatusOK || !strings.Contains(page.Body.String(), "Sweep "+w.Name) {
		t.Errorf("%d %.300s", page.Code, page.Body)
	}
	if err := s.Run(t.Context(), sweep.Local(), w, sweep.Options{Retry: true, Watch: func(sweep.Progress) {}}); err != nil {
		t.Fatal(err)
	}
	if got := at("droptail|ssss", "tcn, threshold 50us|ssss", "tcn, threshold 100us|ssss"); got.Stored != 12 || got.Failed != 0 || got.Left != 0 {
		t.Errorf("%+v", got)
	}
}

// TestBoardOrder: the latest sweep comes first, and a broken one hides no other.
func TestBoardOrder(t *testing.T) {
	s := sweep.Store{Dir: t.TempDir()}
	first, second := sweeptest.Expand(t, "workload.load=0.3"), sweeptest.Expand(t, "workload.load=0.4")
	for i, w := range []*sweep.Sweep{first, second} {
		if err := s.Save(w); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1e9+i), 0)
		if err := os.Chtimes(filepath.Join(w.Folder(), "sweep.json"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	b := New(s)
	names := func() (names []string) {
		all, err := b.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			names = append(names, s.Name+s.Broken)
		}
		return names
	}
	if got := names(); !slices.Equal(got, []string{second.Name, first.Name}) {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(filepath.Join(first.Folder(), "sweep.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := names(); len(got) != 2 || !strings.Contains(got[0], "sweep.json") || got[1] != second.Name {
		t.Errorf("%q", got)
	}
}

// TestBoardNames: sweeps are those of the store: names that lead elsewhere are of none.
func TestBoardNames(t *testing.T) {
	outside := t.TempDir()
	s, other := sweep.Store{Dir: filepath.Join(outside, "store")}, sweep.Store{Dir: outside}
	w := sweeptest.Expand(t)
	if err := errors.Join(s.Save(w), other.Save(w)); err != nil {
		t.Fatal(err)
	}
	h := serve.Handler(serve.Content{Runs: t.TempDir(), Sweeps: New(s)})
	for _, name := range []string{"", ".", "..", "nothing", "../../sweeps/" + w.Name, "./" + w.Name, w.Name + "/", "/" + w.Name, w.Name + "\x00", `..\` + w.Name, filepath.Join(outside, "sweeps", w.Name)} {
		if got := ask(h, "/response?sweep="+url.QueryEscape(name)); got.Code != http.StatusNotFound || strings.Contains(got.Body.String(), "<html") {
			t.Errorf("%q: %d %.200s", name, got.Code, got.Body)
		}
	}
	if got := ask(h, "/response?sweep="+w.Name); got.Code != http.StatusUnprocessableEntity {
		t.Errorf("nothing is measured: %d %.200s", got.Code, got.Body)
	}
}

// BenchmarkBoard looks again at a sweep of 10,000 points that all wait.
func BenchmarkBoard(b *testing.B) {
	s := sweep.Store{Dir: b.TempDir()}
	w := &sweep.Sweep{Name: "large"}
	for i := range 10_000 {
		w.Points = append(w.Points, sweep.Point{Coord: results.Coord{Scheme: fmt.Sprintf("s%d", i/100), Load: 0.5, Seed: uint64(i % 100)}, Key: fmt.Sprintf("%016[1]x%016[1]x", uint64(i)*0x9e3779b97f4a7c15)})
	}
	for i := range 256 {
		if err := os.MkdirAll(filepath.Join(s.Dir, "points", fmt.Sprintf("%02x", i)), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Save(w); err != nil {
		b.Fatal(err)
	}
	board := New(s)
	for b.Loop() {
		if all, err := board.List(); err != nil || all[0].Points != 10_000 {
			b.Fatal(all, err)
		}
	}
}
