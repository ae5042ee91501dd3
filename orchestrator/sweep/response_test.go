package sweep_test

import (
	"slices"
	"testing"

	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/sweeptest"
	"aqmlab/results"
)

// TestResponseLow: what a sweep shows knows which points on real hosts have low fidelity,
// and why.
func TestResponseLow(t *testing.T) {
	s := sweep.Store{Dir: t.TempDir()}
	w := sweeptest.Expand(t)
	if _, err := run(t.Context(), t, s, w); err != nil {
		t.Fatal(err)
	}
	low := w.Points[1]
	stored, err := s.Open(low.Key)
	if err != nil {
		t.Fatal(err)
	}
	p, err := stored.Points()[0].Read()
	if err != nil {
		t.Fatal(err)
	}
	p.Fidelity = results.Fidelity{Label: results.FidelityLow, Reasons: []string{"late", "lost"}}
	if err := s.Put(low.Key, stored.Manifest, stored.LabYAML, p); err != nil {
		t.Fatal(err)
	}
	w.Runtime = "netns"
	set, err := s.Response(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range set.Points {
		want := []string(nil)
		if p.Coord == low.Coord {
			want = []string{"late; lost"}
		}
		if !slices.Equal(p.Low, want) {
			t.Errorf("%v: %q, want %q", p.Coord, p.Low, want)
		}
	}
}
