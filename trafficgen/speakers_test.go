package trafficgen

import (
	"slices"
	"strings"
	"testing"

	"aqmlab/trafficgen/traffic"
)

// TestSpeakers: a flow has the number of the first entry that fits it in all that the
// entry names. Everything else about the flows is as without.
func TestSpeakers(t *testing.T) {
	rules := []Speaker{
		{Services: []int{1}, Servers: []int{2, 3}},
		{Workloads: []int{2}},
		{Servers: []int{3}},
		{Services: []int{0, 1}, Workloads: []int{0}},
	}
	plain := withSpec(t, ecnSharpQueries)
	flows := withSpec(t, func(s *Spec) {
		ecnSharpQueries(s)
		s.Transports = rules
	})
	seen := make([]int, len(rules)+1)
	for i, f := range flows {
		want := 0
		switch {
		case f.Service == 1 && (f.Server == 2 || f.Server == 3):
			want = 1
		case f.Workload == 2:
			want = 2
		case f.Server == 3:
			want = 3
		case f.Workload == 0 && f.Service < 2:
			want = 4
		}
		seen[want]++
		if f.Transport != want || int(f.Record().Transport) != want {
			t.Fatalf("%+v, want transport %d", f, want)
		}
		f.Transport = 0
		if f != plain[i] {
			t.Fatalf("%+v without transports is %+v", f, plain[i])
		}
	}
	if slices.Contains(seen, 0) {
		t.Errorf("flows by transport %v: one has none", seen)
	}
}

// TestReplayedTransports: a trace says which flows speak another transport, and the spec
// which of the others do. A transport that the spec does not have is an error.
func TestReplayedTransports(t *testing.T) {
	const trace = "start,client,server,bytes,transport\n1s,1,2,7,0\n2s,1,3,7,0\n3s,1,3,7,1\n4s,1,3,7,2\n"
	flows, err := traced(t, trace, func(s *Spec) { s.Transports = []Speaker{{Servers: []int{8}}, {Servers: []int{3}}} })
	got := column(flows, func(f traffic.Flow) int { return f.Transport })
	if want := []int{0, 2, 1, 2}; err != nil || !slices.Equal(got, want) {
		t.Errorf("transports %v, %v, want %v", got, err, want)
	}
	_, err = traced(t, trace, func(s *Spec) { s.Transports = []Speaker{{Servers: []int{8}}} })
	if want := "line 5: transport 2 is outside 0 to 1"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
