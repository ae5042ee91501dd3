package aqm

import (
	"math"
	"testing"

	"aqmlab/switch/packet"
)

// TestDCTCPREDScope: each scope compares its own length and no other (MQ-ECN,
// section 2.1); dequeue asks the departing packet and leaves arrivals alone
// (TCN, section 4.3).
func TestDCTCPREDScope(t *testing.T) {
	const k = 30000
	at := map[string]func(length int) View{
		"queue": func(n int) View { return View{Queue: 1, Bytes: n, PortBytes: 2 * k, PoolBytes: 3 * k} },
		"port":  func(n int) View { return View{Queue: 1, Bytes: 0, PortBytes: n, PoolBytes: 3 * k} },
		"pool":  func(n int) View { return View{Queue: 1, Bytes: 0, PortBytes: 0, PoolBytes: n} },
	}
	for scope, view := range at {
		for _, when := range []string{"enqueue", "dequeue"} {
			s := build(t, "dctcp-red", map[string]any{"threshold": "30KB", "scope": scope, "at": when})
			for length, want := range map[int]Verdict{0: Pass, k: Pass, k + 1: Mark} {
				asked, other := s.Arrive(0, nil, view(length)), s.Depart(0, nil, view(length))
				if when == "dequeue" {
					asked, other = other, asked
				}
				if asked != want || other != Pass {
					t.Errorf("scope %s at %s, %d bytes: %v, want %v; the other side says %v", scope, when, length, asked, want, other)
				}
			}
		}
	}
}

// TestDCTCPREDCountsTheArrivingPacket: as the authors' modules do, the packet
// counts when it joins, whatever the scope; a packet is marked that brings the
// length above the threshold, not one that brings it there.
func TestDCTCPREDCountsTheArrivingPacket(t *testing.T) {
	k := &packet.Packet{Size: 1500}
	for _, scope := range []string{"queue", "port", "pool"} {
		s := build(t, "dctcp-red", map[string]any{"threshold": "30KB", "scope": scope, "count_arriving": true})
		for length, want := range map[int]Verdict{0: Pass, 28500: Pass, 28501: Mark} {
			v := View{Bytes: length, PortBytes: length, PoolBytes: length}
			if got := s.Arrive(0, k, v); got != want {
				t.Errorf("scope %s, %d bytes before: %v, want %v", scope, length, got, want)
			}
			if got := s.Depart(0, k, v); got != Pass {
				t.Errorf("depart: %v", got)
			}
		}
	}
}

func TestDCTCPREDStandardOfThePort(t *testing.T) {
	s := build(t, "dctcp-red", map[string]any{"scope": "port"})
	if s.Arrive(0, nil, View{PortBytes: 31250}) != Pass || s.Arrive(0, nil, View{PortBytes: 31251}) != Mark {
		t.Error("a port of 1 Gbps with 250 us does not mark above 31,250 bytes only")
	}
}

func TestDCTCPREDBadChoices(t *testing.T) {
	refused(t, "dctcp-red", env(), map[string]map[string]any{
		"scope":     {"scope": "switch"},
		"at":        {"at": "departure"},
		"threshold": {"threshold": "minimum", "scope": "port"},

		"count_arriving": {"count_arriving": true, "at": "dequeue"},
	})
}

// TestDCTCPREDRamp: DCQCN's congestion point (SIGCOMM 2015, section 3.1, figure 5): the
// probability of a mark is zero up to Kmin, rises linearly to Pmax at Kmax, and is one
// above, over the length at the moment, of any scope, on arrival and departure.
func TestDCTCPREDRamp(t *testing.T) {
	const packets = 40_000
	for _, scope := range []string{"queue", "port", "pool"} {
		for _, when := range []string{"enqueue", "dequeue"} {
			s := build(t, "dctcp-red", map[string]any{"kmin": "5KB", "kmax": "205KB", "pmax": 0.02, "scope": scope, "at": when})
			for length, want := range map[int]float64{0: 0, 5000: 0, 55_000: 0.005, 105_000: 0.01, 205_000: 0.02, 205_001: 1} {
				v := map[string]View{"queue": {Bytes: length, PortBytes: 9e6}, "port": {PortBytes: length}, "pool": {PoolBytes: length}}[scope]
				ask := s.Arrive
				if when == "dequeue" {
					ask = s.Depart
				}
				marks := 0
				for range packets {
					if ask(0, nil, v) == Mark {
						marks++
					}
				}
				// Five standard deviations of as many independent draws.
				if off := math.Abs(float64(marks) - want*packets); off > 5*math.Sqrt(want*(1-want)*packets) {
					t.Errorf("scope %s at %s, %d bytes: %d marks of %d, want %v of them", scope, when, length, marks, packets, want)
				}
			}
		}
	}
}

func TestDCTCPREDBadRamps(t *testing.T) {
	refuses(t, "dctcp-red", []refusal{
		{map[string]any{"kmax": "9KB", "threshold": "8KB"}, "threshold: excludes kmin and kmax"},
		{map[string]any{"kmax": "9KB", "threshold": "minimum"}, "threshold: excludes kmin and kmax"},
		{map[string]any{"kmax": "9KB", "lambda": 0.5}, "lambda: excludes kmin and kmax"},
		{map[string]any{"kmin": "9KB"}, "kmax: missing: kmin needs it"},
		{map[string]any{"pmax": 0.1}, "kmax: missing: pmax needs it"},
		{map[string]any{"kmin": "9KB", "kmax": "8KB"}, "kmax: is below kmin"},
	})
}
