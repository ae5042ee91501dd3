package aqm

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestProbabilisticTCN: no mark below tmin, a mark above tmax, and in between
// a probability that rises to pmax (TCN, section 4.3).
func TestProbabilisticTCN(t *testing.T) {
	params := map[string]any{"tmin": "100us", "tmax": "300us", "pmax": 0.4}
	us := time.Microsecond
	tests := []struct {
		waited   time.Duration
		min, max int // marks of 10,000; five standard deviations around the mean
	}{
		{0, 0, 0},
		{99 * us, 0, 0},
		{100 * us, 0, 0},
		{150 * us, 850, 1150},
		{200 * us, 1800, 2200},
		{300 * us, 3755, 4245},
		{300*us + 1, 10000, 10000},
		{time.Second, 10000, 10000},
	}
	for _, tt := range tests {
		s := build(t, "tcn", params)
		marks := 0
		for range 10000 {
			if s.Depart(0, nil, View{Waited: tt.waited}) == Mark {
				marks++
			}
		}
		if marks < tt.min || marks > tt.max {
			t.Errorf("waited %v: %d marks, want %d to %d", tt.waited, marks, tt.min, tt.max)
		}
	}
}

// With tmin equal to tmax only the threshold is left.
func TestProbabilisticTCNWithEqualTimesIsTheThreshold(t *testing.T) {
	params := map[string]any{"tmin": "200us", "tmax": "200us", "pmax": 0.01}
	s := build(t, "tcn", params)
	for waited, want := range map[time.Duration]Verdict{200 * time.Microsecond: Pass, 200*time.Microsecond + 1: Mark} {
		if got := s.Depart(0, nil, View{Waited: waited}); got != want {
			t.Errorf("waited %v: %v, want %v", waited, got, want)
		}
	}
}

// TestTCNStampsWrap: two-byte stamps reach 262 us in steps of 4 ns and 524 us in steps
// of 8 ns (TCN, section 4.2). A sojourn time beyond that is read as what it is beyond.
func TestTCNStampsWrap(t *testing.T) {
	us := time.Microsecond
	for _, tt := range []struct {
		stamp  string
		waited time.Duration
		want   Verdict
	}{
		{"4ns", 200 * us, Pass},
		{"4ns", 200*us + 4, Mark},
		{"4ns", 262140, Mark}, // 2^16 - 1 steps
		{"4ns", 262144, Pass}, // reads zero
		{"4ns", 262144 + 200*us, Pass},
		{"4ns", 262144 + 200*us + 4, Mark},
		{"4ns", 10*262144 + 200*us, Pass},
		{"8ns", 262144, Mark},
		{"8ns", 524280, Mark},
		{"8ns", 524288, Pass},
		{"8ns", 524288 + 200*us, Pass},
		{"8ns", 524288 + 200*us + 8, Mark},
	} {
		s := build(t, "tcn", map[string]any{"threshold": "200us", "stamp": tt.stamp})
		for _, arrival := range []time.Duration{0, 262140, 524280, 1000 * us * 1000} {
			arrival -= arrival % 8
			if got := s.Depart(arrival+tt.waited, nil, View{Waited: tt.waited}); got != tt.want {
				t.Errorf("stamps of %s, arrived at %v, waited %v: %v, want %v", tt.stamp, arrival, tt.waited, got, tt.want)
			}
		}
	}
}

// The length of a step is what two readings can be off.
func TestTCNStampsCountSteps(t *testing.T) {
	s := build(t, "tcn", map[string]any{"threshold": "100ns", "stamp": "80ns", "stamp_bits": 4})
	for arrival, want := range map[time.Duration]Verdict{0: Pass, 77: Pass, 78: Mark, 79: Mark, 80: Pass} { // from 78 to 160 ns are two steps
		if got := s.Depart(arrival+82, nil, View{Waited: 82}); got != want {
			t.Errorf("arrived at %v: %v, want %v", arrival, got, want)
		}
	}
}

func TestTCNStampsMeasureTheThreshold(t *testing.T) {
	refuses(t, "tcn", []refusal{
		{map[string]any{"threshold": "262140ns", "stamp": "4ns"}, "threshold: 262.14us is not below 262.14us, the longest time that stamps can tell"},
		{map[string]any{"tmax": "600us", "stamp": "8ns"}, "tmax: 600us is not below 524.28us"},
		{map[string]any{"threshold": "1us", "stamp_bits": 8}, "stamp: missing: stamp_bits needs it"},
		{map[string]any{"threshold": "1us", "stamp": "4ns", "stamp_bits": 33}, "stamp_bits: 33 is outside 1 to 32"},
	})
	build(t, "tcn", map[string]any{"threshold": "262139ns", "stamp": "4ns"})
}

func TestTCNParametersExclude(t *testing.T) {
	refuses(t, "tcn", []refusal{
		{map[string]any{"tmax": "1ms", "threshold": "1ms"}, "threshold: excludes tmin and tmax"},
		{map[string]any{"tmax": "1ms", "lambda": 1}, "lambda: excludes tmin and tmax"},
		{map[string]any{"tmin": "1ms"}, "tmax: missing: tmin needs it"},
		{map[string]any{"pmax": 0.5}, "tmax: missing: pmax needs it"},
		{map[string]any{"tmin": "2ms", "tmax": "1ms"}, "tmax: is below tmin"},
		{map[string]any{"tmin": "-2ms", "tmax": "1ms"}, "tmin: -2ms is outside 0s to 360000s"},
		{map[string]any{"tmax": "-1ms"}, "tmax: -1ms is outside 0s to 360000s"},
		{map[string]any{"tmax": "1ms", "pmax": 0}, "pmax: 0 is outside (0, 1]"},
		{map[string]any{"tmax": "1ms", "pmax": 1.1}, "pmax: 1.1 is outside (0, 1]"},
	})
}

// A plain threshold draws nothing: its decisions do not move the random
// sequence of another scheme of the same seed.
func TestCutoffDrawsNothing(t *testing.T) {
	used, fresh := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
	for x := range 100 {
		if got := cutoff(50).marks(float64(x), used); got != (x > 50) {
			t.Errorf("at %d: %v", x, got)
		}
	}
	if used.Uint64() != fresh.Uint64() {
		t.Error("a threshold draws random numbers")
	}
}

// refusal is what a scheme must not be built with, and how the error begins.
type refusal struct {
	params map[string]any
	want   string
}

func refuses(t *testing.T, scheme string, tests []refusal) {
	t.Helper()
	for _, tt := range tests {
		_, err := Table().New(scheme, tt.params, env())
		if err == nil || !strings.HasPrefix(err.Error(), scheme+": "+tt.want) {
			t.Errorf("%v: got %v, want %s", tt.params, err, tt.want)
		}
	}
}
