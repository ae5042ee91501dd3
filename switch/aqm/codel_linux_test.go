package aqm

import (
	"slices"
	"testing"
	"time"
)

// TestCoDelLinuxGaps: the gaps between marks of sch_codel, in its ticks of
// 1024 ns, for an interval of 1000 of them. They follow Newton's step for
// 1/sqrt(n), x (3 - n x^2) / 2, one step a mark from x = 1, which is 0.5, 0.5625,
// 0.4878, 0.4415, 0.4041, 0.3752 for n from 2, where the roots are 0.7071,
// 0.5774, 0.5, 0.4472, 0.4082, 0.3780.
func TestCoDelLinuxGaps(t *testing.T) {
	const interval = 1000
	s := build(t, "codel", map[string]any{"target": "50us", "interval": "1024us", "arithmetic": "linux"})
	v := View{Bytes: 30000, Waited: time.Millisecond}
	var marks []int
	for i := range 6000 {
		if s.Depart(time.Duration(i)*1024, nil, v) == Mark {
			marks = append(marks, i)
		}
	}
	// Seen at 0, so that an interval is over after tick 1000. The first root is
	// 65535/65536, so that an interval is 999 ticks.
	want := []int{interval + 1}
	for _, gap := range []int{999, 500, 562, 487, 441, 404, 375} {
		want = append(want, want[len(want)-1]+gap)
	}
	if !slices.Equal(marks[:len(want)], want) {
		t.Errorf("marks at ticks %v, want %v", marks[:len(want)], want)
	}
}

// TestCoDelLinuxTicks: both ends of a packet's stay are rounded down to a tick,
// as are target and interval. A target of 5 us is 4 ticks.
func TestCoDelLinuxTicks(t *testing.T) {
	const tick = 1024
	tests := []struct {
		name          string
		arrived, left time.Duration
		above         bool
	}{
		{"four ticks to the nanosecond", 10 * tick, 14 * tick, true},
		{"a nanosecond less", 10 * tick, 14*tick - 1, false},
		{"begun within a tick", 11*tick - 1, 14 * tick, true},
		{"begun and ended within a tick", 10*tick + 1, 15*tick - 1, true},
		{"begun with the next tick", 11 * tick, 15*tick - 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := build(t, "codel", map[string]any{"target": "5us", "interval": "1ms", "arithmetic": "linux"})
			s.Depart(tt.left, nil, View{Bytes: 30000, Waited: tt.left - tt.arrived})
			// An interval later it marks if that packet was above target.
			later := tt.left + 2*time.Millisecond
			got := s.Depart(later, nil, View{Bytes: 30000, Waited: time.Second})
			if want := map[bool]Verdict{true: Mark, false: Pass}[tt.above]; got != want {
				t.Errorf("%v after an interval, want %v", got, want)
			}
		})
	}
}

// TestCoDelLinuxReentry: on entering again count goes on from what it was last
// time, and the root takes one step from where it was: from 0.4878 at count 4 to
// 0.4878 (3 - 3 0.4878^2) / 2 = 0.5576 at count 3.
func TestCoDelLinuxReentry(t *testing.T) {
	const tick, b = 1024, 30000
	s := build(t, "codel", map[string]any{"target": "50us", "interval": "1024us", "arithmetic": "linux"})
	for _, step := range []struct {
		at, waited time.Duration // ticks
		want       Verdict
	}{
		{0, 60, Pass},
		{1001, 60, Mark}, // count 1, next 2000
		{2000, 60, Mark}, // 2, next 2500
		{2500, 60, Mark}, // 3, next 3062
		{3062, 60, Mark}, // 4, next 3549
		{3100, 10, Pass}, // leaves
		{3200, 60, Pass}, // first seen: 4200
		{4201, 60, Mark}, // count 4 - 1 = 3, next 4201 + 557
		{4757, 60, Pass},
		{4758, 60, Mark},
	} {
		if got := s.Depart(step.at*tick, nil, View{Bytes: b, Waited: step.waited * tick}); got != step.want {
			t.Errorf("at tick %d: %v, want %v", step.at, got, step.want)
		}
	}
}

func TestCoDelArithmeticBadParameters(t *testing.T) {
	refused(t, "codel", env(), map[string]map[string]any{
		"arithmetic": {"arithmetic": "tofino"},
		"interval":   {"arithmetic": "linux", "interval": "1us"},
	})
}
