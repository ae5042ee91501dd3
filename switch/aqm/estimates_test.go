package aqm

import (
	"slices"
	"testing"
	"time"

	"aqmlab/switch/packet"
	"aqmlab/units"
)

// told has a scheme tell its estimates.
func told(t *testing.T, s Scheme) *[]Estimate {
	t.Helper()
	e, ok := s.(Estimator)
	if !ok {
		t.Fatalf("%T estimates nothing", s)
	}
	var all []Estimate
	e.Estimates(func(_ time.Duration, e Estimate) { all = append(all, e) })
	return &all
}

// leaving has packets of 1500 bytes leave queue 1, one every so often.
func leaving(s Scheme, packets int, every time.Duration) {
	full := packet.Packet{Size: 1500}
	for i := range packets {
		s.Depart(time.Duration(i)*every, &full, View{Queue: 1, Packets: 100, Bytes: 150_000})
	}
}

// 1500 bytes every 24 us are 500 Mbps. The average begins with the line rate of 1
// Gbps, of which it keeps so much; a cycle of 10 KB is seven packets, and the first
// one opens it.
func TestEstimatesOfDepartures(t *testing.T) {
	s := build(t, "ideal-red", map[string]any{"weight": 0.75})
	all := told(t, s)
	leaving(s, 15, 24*time.Microsecond)
	want := []Estimate{{1, 500 * units.Mbps, 875 * units.Mbps}, {1, 500 * units.Mbps, 781_250 * units.Kbps}}
	if !slices.Equal(*all, want) {
		t.Errorf("estimates %v, want %v", *all, want)
	}
	s.(Estimator).Estimates(nil)
	if n := testing.AllocsPerRun(100, func() { leaving(s, 15, 24*time.Microsecond) }); n > 1 { // the packet {
		t.Errorf("%v allocations when nobody wants to know", n)
	}
}

// Capacities that are told are not estimates.
func TestOracleEstimatesNothing(t *testing.T) {
	s := build(t, "ideal-red", map[string]any{"estimator": "oracle", "capacities": []any{"1Gbps", "1Gbps", "1Gbps", "1Gbps"}})
	all := told(t, s)
	leaving(s, 15, 24*time.Microsecond)
	if len(*all) != 0 {
		t.Errorf("estimates %v", *all)
	}
}

// PIE measures a queue only if that is its signal, and begins with the first
// sample, which counts the packet that opens the cycle (RFC 8033, section 5.2): ten
// packets of 1500 bytes are divided by nine gaps.
func TestEstimatesOfPIE(t *testing.T) {
	for signal, want := range map[string]int{"sojourn": 0, "departure-rate": 1} {
		s := build(t, "pie", map[string]any{"signal": signal, "dq_threshold": "15KB"})
		all := told(t, s)
		leaving(s, 10, 24*time.Microsecond)
		if len(*all) != want {
			t.Fatalf("%s: estimates %v", signal, *all)
		}
		if exact := units.Rate(555_555_556); want == 1 && (*all)[0] != (Estimate{1, exact, exact}) {
			t.Errorf("estimates %v, want twice %v", *all, exact)
		}
	}
}

// A round of four turns leaves a queue a quarter of the link, and the average
// begins with nothing: T = 4/4 = 1 turn, the whole link. A second one makes it 7/4.
// The link takes 1500 of the 1538 bytes that a full packet has on the wire.
func TestEstimatesOfRounds(t *testing.T) {
	s := mqecn(t, rounds(), nil)
	all := told(t, s)
	ended(s, 4*turn, 0, false)
	ended(s, 8*turn, 0, false)
	line := float64(units.Gbps) * 1500 / 1538
	want := [][2]float64{{line / 4, line}, {line / 4, line * 4 / 7}}
	if len(*all) != 2 {
		t.Fatalf("estimates %v", *all)
	}
	for i, e := range *all {
		for j, got := range []units.Rate{e.Sample, e.Smoothed} {
			if off := float64(got)/want[i][j] - 1; e.Queue != 0 || off < -1e-4 || off > 1e-4 {
				t.Errorf("estimate %d: %+v, want %v", i, e, want[i])
			}
		}
	}
	s.(Estimator).Estimates(nil)
	if n := testing.AllocsPerRun(100, func() { ended(s, 8*turn, 0, false) }); n != 0 {
		t.Errorf("%v allocations when nobody wants to know", n)
	}
}
