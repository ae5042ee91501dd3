package sweep_test

import (
	"slices"
	"testing"

	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/sweeptest"
	"aqmlab/results"
)

// TestResponseOfCoexistence: points whose delays were counted have metrics of how parties
// share the network, and others have not.
func TestResponseOfCoexistence(t *testing.T) {
	s := sweep.Store{Dir: t.TempDir()}
	w := sweeptest.Expand(t)
	if _, err := run(t.Context(), t, s, w); err != nil {
		t.Fatal(err)
	}
	key := w.Points[1].Key
	has := func() (names []string) {
		t.Helper()
		f, err := s.Figures(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range f.Programs {
			names = append(names, m.Name)
		}
		return names
	}
	if names := has(); len(names) > 0 {
		t.Errorf("nobody asked for %v", names)
	}
	stored, err := s.Open(key)
	if err != nil {
		t.Fatal(err)
	}
	p, err := stored.Points()[0].Read()
	if err != nil {
		t.Fatal(err)
	}
	port, _ := results.Bottleneck(p.Queues)
	p.Classes = []results.ClassCount{{Switch: port.Switch, Port: port.Port, Sent: 4, Waited: 400, Longest: 100}}
	p.Delays = []results.DelayCount{{Switch: port.Switch, Port: port.Port, UpTo: 100, Packets: 4}}
	if err := s.Put(key, stored.Manifest, stored.LabYAML, p); err != nil {
		t.Fatal(err)
	}
	names := has()
	for _, want := range []string{"coexistence.delay.p99", "coexistence.utilisation"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s among %v", want, names)
		}
	}
}

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
