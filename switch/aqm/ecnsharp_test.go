package aqm

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// persistentOnly are targets under which only the persistent rule marks:
// sojourn times of 50 us for more than 100 us.
func persistentOnly(more map[string]any) map[string]any {
	p := map[string]any{"ins_target": "1s", "pst_target": "50us", "pst_interval": "100us"}
	for name, v := range more {
		p[name] = v
	}
	return p
}

const (
	standing = 50 * time.Microsecond // exactly at the target
	short    = standing - 1
)

// departs sends one packet and tells whether it was marked.
func departs(s Scheme, at, waited time.Duration) bool {
	return s.Depart(at, nil, View{Waited: waited}) == Mark
}

// everyMicrosecond is which of the packets, one a microsecond in [from, to),
// are marked.
func everyMicrosecond(s Scheme, from, to int, waited time.Duration) (marked []int) {
	for us := from; us < to; us++ {
		if departs(s, time.Duration(us)*time.Microsecond, waited) {
			marked = append(marked, us)
		}
	}
	return marked
}

// TestECNSharpGaps works the marks of one episode by hand, with an interval of
// 120 us. The first packet above the target is at 0; now must be beyond 120 us;
// after that it must be beyond 241, 301, 341, 371, 395, 415, 432.1 and 447.1 us
// (ECN#, Algorithm 1: gaps of 120/1, 120/2, ...), or not before 241, 325.9,
// 395.3, 456 and 509.7 us (the square root, from the last mark).
func TestECNSharpGaps(t *testing.T) {
	tests := []struct {
		gaps string
		to   int
		want []int
	}{
		{"harmonic", 450, []int{121, 242, 302, 342, 372, 396, 416, 433, 448}},
		{"root", 511, []int{121, 241, 326, 396, 456, 510}},
	}
	for _, tt := range tests {
		s := build(t, "ecn-sharp", persistentOnly(map[string]any{"gaps": tt.gaps, "pst_interval": "120us"}))
		if got := everyMicrosecond(s, 0, tt.to, standing); !slices.Equal(got, tt.want) {
			t.Errorf("%s: marks at %v us, want %v", tt.gaps, got, tt.want)
		}
	}
}

// One packet below the target ends the episode: the next one needs a whole
// interval again, and starts with a count of one.
func TestECNSharpEpisodeRestarts(t *testing.T) {
	s := build(t, "ecn-sharp", persistentOnly(nil))
	everyMicrosecond(s, 0, 300, standing)
	if departs(s, 300*time.Microsecond, short) {
		t.Error("marked a packet below the target")
	}
	want := []int{402, 503, 553, 586}
	if got := everyMicrosecond(s, 301, 590, standing); !slices.Equal(got, want) {
		t.Errorf("marks at %v us, want %v", got, want)
	}
}

// One short packet before detection starts the interval anew.
func TestECNSharpShortPacketResetsDetection(t *testing.T) {
	s := build(t, "ecn-sharp", persistentOnly(nil))
	everyMicrosecond(s, 0, 100, standing)
	departs(s, 100*time.Microsecond, short)
	if got := everyMicrosecond(s, 101, 203, standing); !slices.Equal(got, []int{202}) {
		t.Errorf("marks at %v us, want 202 alone", got)
	}
}

// An idle queue changes nothing: only a packet can.
func TestECNSharpIdleDoesNotReset(t *testing.T) {
	s := build(t, "ecn-sharp", persistentOnly(nil))
	departs(s, 0, standing)
	if !departs(s, time.Second, standing) {
		t.Error("not marked a second later")
	}
}

// The due time moves on from its old value, so that after sparse packets it
// lags behind and packets in a row are marked until it has caught up.
func TestECNSharpDueTimeLags(t *testing.T) {
	s := build(t, "ecn-sharp", persistentOnly(nil))
	us := time.Microsecond
	steps := []struct {
		at   time.Duration
		want bool
	}{
		{0, false},
		{101 * us, true},  // next 201
		{290 * us, true},  // next 251
		{291 * us, true},  // next 284.3
		{292 * us, true},  // next 309.3
		{293 * us, false}, // caught up
		{309 * us, false},
		{310 * us, true},
	}
	for _, step := range steps {
		if got := departs(s, step.at, standing); got != step.want {
			t.Errorf("at %v: %v, want %v", step.at, got, step.want)
		}
	}
}

// Packets that the instantaneous rule marks pass through the persistent one:
// its first mark, at 101 us, is due again after 201 us.
func TestECNSharpRulesAreIndependent(t *testing.T) {
	s := build(t, "ecn-sharp", persistentOnly(map[string]any{"ins_target": "80us"}))
	if got := everyMicrosecond(s, 0, 150, 80*time.Microsecond+1); len(got) != 150 {
		t.Errorf("%d of 150 packets marked above ins_target", len(got))
	}
	if got := everyMicrosecond(s, 150, 210, 80*time.Microsecond); !slices.Equal(got, []int{202}) {
		t.Errorf("marks at %v us, want 202 alone", got)
	}
}

func TestECNSharpQueuesAreIndependent(t *testing.T) {
	for _, arithmetic := range []string{"exact", "tofino"} {
		s := build(t, "ecn-sharp", persistentOnly(map[string]any{"arithmetic": arithmetic}))
		for us := range 100 {
			at := time.Duration(us) * time.Microsecond
			s.Depart(at, nil, View{Queue: 1, Waited: standing + 1})
			s.Depart(at, nil, View{Queue: 2})
		}
		at := 200 * time.Microsecond
		if s.Depart(at, nil, View{Queue: 0, Waited: standing + 1}) != Pass {
			t.Errorf("%s: queue 0 is marked for queue 1", arithmetic)
		}
		if s.Depart(at, nil, View{Queue: 1, Waited: standing + 1}) != Mark {
			t.Errorf("%s: queue 1 was reset by queue 2", arithmetic)
		}
	}
}

// TestECNSharpInstantaneous: strictly above ins_target; the defaults follow the
// base RTT of 250 us.
func TestECNSharpInstantaneous(t *testing.T) {
	us := time.Microsecond
	tests := []struct {
		params map[string]any
		view   View
		want   Verdict
	}{
		{nil, View{Waited: 250 * us}, Pass},
		{nil, View{Waited: 250*us + 1}, Mark},
		{map[string]any{"ins_target": "200us"}, View{Waited: 200 * us}, Pass},
		{map[string]any{"ins_target": "200us"}, View{Waited: 200*us + 1}, Mark},
		{map[string]any{"ins_target": "200us", "signal": "length"}, View{Bytes: 25000, Waited: time.Second}, Pass},
		{map[string]any{"ins_target": "200us", "signal": "length"}, View{Bytes: 25001}, Mark},
		{map[string]any{"ins_min": "100us", "ins_max": "200us"}, View{Waited: 100 * us}, Pass},
		{map[string]any{"ins_min": "100us", "ins_max": "200us", "pmax": 0.1}, View{Waited: 200*us + 1}, Mark},
	}
	for _, tt := range tests {
		s := build(t, "ecn-sharp", tt.params)
		if got := s.Depart(0, nil, tt.view); got != tt.want {
			t.Errorf("%v, %+v: %v, want %v", tt.params, tt.view, got, tt.want)
		}
		if got := s.Arrive(0, nil, View{Bytes: 1 << 30}); got != Pass {
			t.Errorf("%v: arrive: %v", tt.params, got)
		}
	}
}

func TestECNSharpProbability(t *testing.T) {
	s := build(t, "ecn-sharp", map[string]any{"ins_min": "100us", "ins_max": "200us", "pmax": 0.8, "pst_target": "1s"})
	marks := 0
	for range 10000 {
		if departs(s, 0, 150*time.Microsecond) {
			marks++
		}
	}
	if marks < 3755 || marks > 4245 { // 0.4, five standard deviations
		t.Errorf("%d marks of 10,000, want 4000", marks)
	}
}

// With signal length the persistent rule compares to pst_target x rate, 6250
// bytes at 1 Gbps.
func TestECNSharpStandingLength(t *testing.T) {
	for bytes, want := range map[int]Verdict{6249: Pass, 6250: Mark} {
		s := build(t, "ecn-sharp", persistentOnly(map[string]any{"signal": "length"}))
		s.Depart(0, nil, View{Bytes: bytes})
		if got := s.Depart(100*time.Microsecond+1, nil, View{Bytes: bytes}); got != want {
			t.Errorf("%d bytes: %v, want %v", bytes, got, want)
		}
	}
}

// The default pst_target is 106.25 us for a base RTT of 250 us, and
// pst_interval that RTT.
func TestECNSharpDefaults(t *testing.T) {
	const target = 106250 * time.Nanosecond
	for waited, want := range map[time.Duration]bool{target - 1: false, target: true} {
		s := build(t, "ecn-sharp", nil)
		departs(s, 0, waited)
		if departs(s, 250*time.Microsecond, waited) {
			t.Error("marked after exactly the interval")
		}
		if got := departs(s, 250*time.Microsecond+1, waited); got != want {
			t.Errorf("waited %v: %v, want %v", waited, got, want)
		}
	}
}

// A long episode marks every packet in the end: 100 us over count is less than the
// microsecond between packets from the 101st mark on, which is due at 101 us and
// 100 us times 1 + 1/2 + ... + 1/100, 620 us.
func TestECNSharpLongEpisode(t *testing.T) {
	s := build(t, "ecn-sharp", persistentOnly(nil))
	if got := everyMicrosecond(s, 0, 620, standing); len(got) != 100 {
		t.Errorf("%d marks before 620 us, want 100", len(got))
	}
	if got := everyMicrosecond(s, 620, 100_000, standing); len(got) < 99_380-1 {
		t.Errorf("%d marks of 99,380 packets later", len(got))
	}
}

// TestECNSharpMarksASuperset: whatever the instantaneous rule alone marks, ECN#
// marks too, and it marks more; on the sojourn time and on the length, with a
// threshold and with a probability, of which both make the same draws.
func TestECNSharpMarksASuperset(t *testing.T) {
	sojourn := alone{"tcn", map[string]any{"threshold": "250us"}}
	for _, tt := range []struct {
		params map[string]any
		alone  alone
	}{
		{nil, sojourn},
		{map[string]any{"gaps": "root"}, sojourn},
		{map[string]any{"arithmetic": "tofino"}, sojourn},
		{map[string]any{"arithmetic": "tofino", "clock": "printed", "division": "printed"}, sojourn},
		{map[string]any{"signal": "length"}, alone{"dctcp-red", map[string]any{"at": "dequeue"}}},
		{map[string]any{"ins_min": "150us", "ins_max": "300us", "pmax": 0.5}, alone{"tcn", map[string]any{"tmin": "150us", "tmax": "300us", "pmax": 0.5}}},
	} {
		sharp, alone := build(t, "ecn-sharp", tt.params), build(t, tt.alone.scheme, tt.alone.params)
		rng := rand.New(rand.NewPCG(3, 3))
		waited, more, both := 0, 0, 0
		for i := range 100_000 {
			waited = max(0, min(waited+rng.IntN(20001)-10000, 400_000))
			at, v := time.Duration(i)*1200, View{Waited: time.Duration(waited), Bytes: waited / 8}
			switch marked, only := sharp.Depart(at, nil, v) == Mark, alone.Depart(at, nil, v) == Mark; {
			case only && !marked:
				t.Fatalf("%v: at %v, waited %v: only the instantaneous rule marks", tt.params, at, v.Waited)
			case only:
				both++
			case marked:
				more++
			}
		}
		if more == 0 || both == 0 {
			t.Errorf("%v: the rules marked %d and %d: the test shows nothing", tt.params, both, more)
		}
	}
}

// alone is a scheme that has only the instantaneous rule.
type alone struct {
	scheme string
	params map[string]any
}

func TestECNSharpRefuses(t *testing.T) {
	refuses(t, "ecn-sharp", []refusal{
		{map[string]any{"ins_target": "-1us"}, "ins_target: -1us is outside 0s to 360000s"},
		{map[string]any{"pst_target": "-1us"}, "pst_target: -1us is outside 0s to 360000s"},
		{map[string]any{"pst_interval": "-1us"}, "pst_interval: -1us is outside 0s to 360000s"},
		{map[string]any{"signal": "delay"}, "signal: unknown"},
		{map[string]any{"gaps": "none"}, "gaps: unknown"},
		{map[string]any{"arithmetic": "float"}, "arithmetic: unknown"},
		{map[string]any{"arithmetic": "tofino", "clock": "64bit"}, "clock: unknown"},
		{map[string]any{"arithmetic": "tofino", "division": "none"}, "division: unknown"},
		{map[string]any{"clock": "printed"}, "clock: exact arithmetic"},
		{map[string]any{"division": "printed"}, "division: exact arithmetic"},
		{map[string]any{"arithmetic": "tofino", "gaps": "root"}, "gaps: the switch program"},
		{map[string]any{"arithmetic": "tofino", "pst_interval": "999ns"}, "pst_interval: 999ns does not fit"},
		{map[string]any{"arithmetic": "tofino", "pst_interval": "1000s"}, "pst_interval: 16m40s does not fit"},
		{map[string]any{"ins_max": "1ms", "ins_target": "1ms"}, "ins_target: excludes ins_min and ins_max"},
		{map[string]any{"pmax": 0.5}, "ins_max: missing"},
	})
	e := env()
	e.RTTs = RTTs{}
	if _, err := Table().New("ecn-sharp", nil, e); err == nil {
		t.Error("accepts defaults without a base RTT")
	}
	given := map[string]any{"ins_max": "1ms", "pst_target": "1us", "pst_interval": "1us"}
	if _, err := Table().New("ecn-sharp", given, e); err != nil {
		t.Errorf("refuses times that need no base RTT: %v", err)
	}
}
