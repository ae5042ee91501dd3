package sched

import (
	"strings"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

func dual(t testing.TB, params map[string]any) *dualQ {
	t.Helper()
	s, err := Table().New("dualq", params, Env{Queues: 2, FullPacket: 1500, Schedulers: Table()})
	if err != nil {
		t.Fatal(err)
	}
	return s.(*dualQ)
}

// enter gives packets of an ECN codepoint to a dualQ, with the codepoint as their hash.
func (s *dualQ) enter(at time.Duration, ecn packet.ECN, n int, size int32) {
	for range n {
		k := &packet.Packet{Size: size, ECN: ecn, Hash: uint32(ecn), Enqueued: at}
		s.Hold(at, s.Queue(k), k)
	}
}

// TestDualQSorts: ECT(1) and CE are of scalable transports (RFC 9331, section 4.1; RFC
// 9332, section 2.5.1.1), or all that is ECN-capable.
func TestDualQSorts(t *testing.T) {
	for low, want := range map[string]map[packet.ECN]int{
		"ect1": {packet.NotECT: 1, packet.ECT0: 1, packet.ECT1: 0, packet.CE: 0},
		"ect":  {packet.NotECT: 1, packet.ECT0: 0, packet.ECT1: 0, packet.CE: 0},
	} {
		s := dual(t, map[string]any{"low": low})
		for ecn, q := range want {
			if got := s.Queue(&packet.Packet{ECN: ecn}); got != q {
				t.Errorf("low: %s: ECN %02b joins queue %d, want %d", low, ecn, got, q)
			}
		}
	}
}

// TestDualQShares: while both queues have packets, C gets its share in bytes, and L the
// rest. A packet of L that comes when C alone was busy goes first.
func TestDualQShares(t *testing.T) {
	for _, share := range []float64{0.1, 0.25, 0.5} {
		s := dual(t, map[string]any{"classic": share})
		s.enter(0, packet.NotECT, 50, 1500)
		for range 20 {
			s.Take(0)
		}
		s.enter(0, packet.ECT0, 4000, 500)
		if k := s.Take(0); k.ECN != packet.ECT0 || s.Taken() != 0 {
			t.Fatalf("share %v: C goes before L", share)
		}
		sent := map[packet.ECN]int{}
		for range 2000 {
			k := s.Take(0)
			sent[k.ECN] += int(k.Size)
			s.enter(0, packet.NotECT, 1, 1500)
		}
		all := sent[packet.NotECT] + sent[packet.ECT0]
		if off := float64(sent[packet.NotECT]) - share*float64(all); off > 3000 || off < -3000 {
			t.Errorf("share %v: C sent %d of %d bytes", share, sent[packet.NotECT], all)
		}
	}
}

// TestDualQShifts: in a time-shifted FIFO a packet of C goes first once it has waited longer
// than the head of L by more than the shift (RFC 9332, section 4.2.2).
func TestDualQShifts(t *testing.T) {
	const us = time.Microsecond
	s := dual(t, map[string]any{"order": "shifted", "shift": "100us"})
	s.enter(50*us, packet.NotECT, 1, 1500)
	s.enter(150*us, packet.ECT0, 1, 1500)
	s.enter(151*us, packet.ECT0, 1, 1500)
	var order []int
	for s.Head() != nil {
		s.Take(200 * us)
		order = append(order, s.Taken())
	}
	if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 0 {
		t.Errorf("served %v, want L at exactly the shift, then C", order)
	}
}

func TestDualQTellsItsQueues(t *testing.T) {
	s := dual(t, nil)
	s.enter(0, packet.NotECT, 3, 100)
	s.enter(0, packet.ECT0, 1, 1500)
	for q, want := range [][2]int{{1, 1500}, {3, 300}} {
		if n, bytes := s.Length(q); n != want[0] || bytes != want[1] {
			t.Errorf("queue %d: %d packets, %d bytes", q, n, bytes)
		}
	}
	if s.Queues() != 2 {
		t.Errorf("%d queues", s.Queues())
	}
}

func TestDualQParameters(t *testing.T) {
	for want, params := range map[string]map[string]any{
		"shift: missing":                       {"order": "shifted"},
		"shift: order wrr has none":            {"shift": "1us"},
		"classic: order shifted has no share":  {"order": "shifted", "shift": "1us", "classic": 0.2},
		"classic: 0 is outside [0.001, 0.999]": {"classic": 0},
		`low: unknown choice "ect2"`:           {"low": "ect2"},
	} {
		if _, err := Table().New("dualq", params, Env{Queues: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
