package aqm

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
)

// refused checks that each parameter's error names it.
func refused(t *testing.T, scheme string, e Env, bad map[string]map[string]any) {
	t.Helper()
	for param, params := range bad {
		_, err := Table().New(scheme, params, e)
		var pe *kind.ParamError
		if !errors.As(err, &pe) || pe.Param != param || !strings.HasPrefix(err.Error(), scheme+": ") {
			t.Errorf("%s %v: %v, want an error for %q", scheme, params, err, param)
		}
	}
}

// instant is RED on the instantaneous length: weight 1.
func instant(t *testing.T, params map[string]any) Scheme {
	t.Helper()
	all := map[string]any{"weight": 1, "min": "30KB", "max": "60KB"}
	for k, v := range params {
		all[k] = v
	}
	return build(t, "red", all)
}

// TestREDEdges: nothing up to min, everything above max, equality marks not
// (TCN, section 2.1).
func TestREDEdges(t *testing.T) {
	tests := []struct {
		name   string
		params map[string]any
		bytes  int
		want   Verdict
	}{
		{"empty", nil, 0, Pass},
		{"at min", nil, 30000, Pass},
		{"above max", nil, 60001, MarkOrDrop},
		{"above max, no ECN", map[string]any{"ecn": false}, 60001, Drop},
		{"min = max, at", map[string]any{"max": "30KB"}, 30000, Pass},
		{"min = max, above", map[string]any{"max": "30KB"}, 30001, MarkOrDrop},
		{"at max with pmax 1", map[string]any{"pmax": 1}, 60000, MarkOrDrop},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := instant(t, tt.params)
			for range 100 {
				if got := s.Arrive(0, nil, View{Bytes: tt.bytes}); got != tt.want {
					t.Fatalf("%v, want %v", got, tt.want)
				}
			}
			if got := s.Depart(0, nil, View{Bytes: tt.bytes}); got != Pass {
				t.Errorf("depart: %v", got)
			}
		})
	}
}

// TestREDStandard: rate x base RTT is 31,250 bytes for the port of env.
func TestREDStandard(t *testing.T) {
	s := build(t, "red", map[string]any{"weight": 1, "pmax": 1e-9})
	for bytes, want := range map[int]Verdict{10416: Pass, 31250: Pass, 31251: MarkOrDrop} {
		if got := s.Arrive(0, nil, View{Bytes: bytes}); got != want {
			t.Errorf("%d bytes: %v, want %v", bytes, got, want)
		}
	}
}

// TestREDSpacing: with a constant average the number of packets from one mark
// to the next is uniform over 1 to 1/p (Floyd and Jacobson, section 7: count is
// the number of packets that came unmarked since). Here p = 0.02 halfway, so over
// 1 to 50.
func TestREDSpacing(t *testing.T) {
	s := instant(t, map[string]any{"pmax": 0.04})
	const marks = 50000
	var gaps [64]int
	for n, gap := -1, 0; n < marks; {
		gap++
		if s.Arrive(0, nil, View{Bytes: 45000}) != MarkOrDrop {
			continue
		}
		if n >= 0 {
			gaps[min(gap, 63)]++
		}
		n, gap = n+1, 0
	}
	// The k-th packet is marked with p/(1-(k-1)p): P(gap = k) = p for k up to 50.
	for k, got := range gaps {
		want := 0.0
		if k >= 1 && k <= 50 {
			want = marks / 50.0
		}
		if math.Abs(float64(got)-want) > 6*math.Sqrt(want) {
			t.Errorf("gap %d: %d times, want about %.0f", k, got, want)
		}
	}
}

// TestREDCountsAnew: packets are counted from the last action, and from when the average
// came above min (Floyd and Jacobson, figure 2). So after a packet that met an average
// outside of min and max, the next one is marked with p = 0.02, however many passed before;
// with the 40 of before it would be p/(1-40p) = 0.1.
func TestREDCountsAnew(t *testing.T) {
	for name, bytes := range map[string]int{"at min": 30000, "above max": 60001} {
		s := instant(t, map[string]any{"pmax": 0.04})
		const rounds = 5000
		marked := 0
		for n := 0; n < rounds; {
			passed := 0
			for passed < 40 && s.Arrive(0, nil, View{Bytes: 45000}) == Pass {
				passed++
			}
			if passed < 40 {
				continue
			}
			n++
			s.Arrive(0, nil, View{Bytes: bytes})
			if s.Arrive(0, nil, View{Bytes: 45000}) != Pass {
				marked++
			}
		}
		if want := 0.02 * rounds; math.Abs(float64(marked)-want) > 6*math.Sqrt(want) {
			t.Errorf("%s: %d of %d marked, want about %.0f", name, marked, rounds, want)
		}
	}
}

// TestREDAverage checks the average by hand, with weight 1/4: growth, then ten
// typical packet times of 12 us of idleness.
func TestREDAverage(t *testing.T) {
	s := build(t, "red", map[string]any{"weight": 0.25, "min": "30KB", "max": "60KB"}).(*red)
	q := &s.queues[1]
	step := func(now time.Duration, bytes int, want float64) {
		t.Helper()
		s.Arrive(now, nil, View{Queue: 1, Bytes: bytes})
		if math.Abs(q.average-want) > 1e-6*max(want, 1) {
			t.Errorf("at %v with %d bytes: average %v, want %v", now, bytes, q.average, want)
		}
	}
	us := time.Microsecond
	step(0, 0, 0)
	step(1*us, 40000, 10000)
	step(2*us, 40000, 17500)
	step(2*us, 40000, 23125)
	s.Depart(5*us, nil, View{Queue: 1, Bytes: 0})
	step(125*us, 0, 23125*math.Pow(0.75, 10))
	// Not queued, say dropped: the queue is still idle, and its time goes on.
	step(137*us, 0, 23125*math.Pow(0.75, 11))
	// A part of a packet time counts as that part (Floyd and Jacobson, section 11: m is
	// the idle time over the time of a packet).
	step(143*us, 0, 23125*math.Pow(0.75, 11.5))
	if s.queues[0].average != 0 {
		t.Error("another queue's average moved")
	}
}

func TestREDBadParameters(t *testing.T) {
	refused(t, "red", env(), map[string]map[string]any{
		"min":    {"min": "2KB", "max": "1KB"},
		"pmax":   {"pmax": 0},
		"weight": {"weight": 1.5},
	})
	e := env()
	e.RTTs = RTTs{}
	refused(t, "red", e, map[string]map[string]any{"max": {"min": "2KB"}})
}
