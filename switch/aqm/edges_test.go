package aqm

import (
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// TestCoDelEntersAnew: the count of before is gone on with if it had grown by more than one
// and the state was left less than 16 intervals ago (RFC 8289, section 5: delta > 1 and
// now - drop_next < 16 interval). Else it is 1, and the root is that of 1.
func TestCoDelEntersAnew(t *testing.T) {
	const interval = 100 * time.Microsecond
	for _, tt := range []struct {
		count, last int
		since       time.Duration
		want        int
	}{
		{5, 1, 16*interval - 1, 4},
		{5, 1, 16 * interval, 1},
		{3, 1, 0, 2},
		{2, 1, 0, 1},
	} {
		for _, arithmetic := range []string{"exact", arithmeticLinux} {
			s := build(t, "codel", map[string]any{"interval": interval.String(), "target": "5us", "arithmetic": arithmetic}).(*codel)
			q := &s.queues[0]
			now := time.Second
			*q = codelQueue{count: tt.count, lastCount: tt.last, next: now - tt.since*s.interval/interval, root: 30000}
			s.enter(q, now)
			if q.count != tt.want || tt.want == 1 && q.root != firstRoot {
				t.Errorf("%s, %+v: count %d, root %d", arithmetic, tt, q.count, q.root)
			}
		}
	}
}

// TestCoDelDropMovesOnLater: after a drop the next one is due an interval over the root of
// count later only if the packet behind it may be dropped too (RFC 8289, section 5.5,
// dequeue). A mark has no packet behind it to look at.
func TestCoDelDropMovesOnLater(t *testing.T) {
	const us = time.Microsecond
	for action, moves := range map[string]bool{"drop": false, "mark": true} {
		s := build(t, "codel", map[string]any{"interval": "100us", "target": "5us", "action": action}).(*codel)
		q := &s.queues[0]
		busy := View{Waited: 50 * us, Bytes: 90000}
		s.Depart(0, nil, busy)
		s.Depart(101*us, nil, busy) // enters
		due := q.next
		if got := s.Depart(due, nil, busy); got == Pass {
			t.Fatalf("%s: %v when due", action, got)
		}
		s.Depart(due, nil, View{Waited: us, Bytes: 90000}) // leaves the state
		if moved := q.next > due; moved != moves {
			t.Errorf("%s: moved on: %v", action, moved)
		}
	}
}

// TestTofinoEpisodes: an episode ends with a packet that waited no longer than the target
// (ECN#, Algorithm 1). The next one begins when the signal has been above for an interval
// anew, and its second mark comes a whole interval after the first.
func TestTofinoEpisodes(t *testing.T) {
	const tick = 1024 * time.Nanosecond
	s := build(t, "ecn-sharp", map[string]any{"arithmetic": "tofino", "ins_target": "1s", "pst_target": "10us", "pst_interval": "100us"})
	at := time.Second
	depart := func(after int, waited time.Duration) Verdict {
		at += time.Duration(after) * tick
		return s.Depart(at, nil, View{Waited: waited})
	}
	const low, high = time.Microsecond, 50 * time.Microsecond
	marks := 0
	for range 500 { // one tick after the other
		if depart(1, high) == Mark {
			marks++
		}
	}
	if marks < 5 { // with gaps of 100, 50, 34, 25 ... ticks
		t.Fatalf("%d marks in 500 ticks", marks)
	}
	for step, tt := range []struct {
		after  int
		waited time.Duration
		want   Verdict
	}{
		{1, low, Pass},
		{1, high, Pass}, // above from here on
		{60, high, Pass},
		{1, low, Pass},
		{1, high, Pass}, // above from here on
		{99, high, Pass},
		{2, high, Mark},
		{60, high, Pass}, // a gap of half an interval would be over
		{39, high, Pass},
		{2, high, Mark},
	} {
		if got := depart(tt.after, tt.waited); got != tt.want {
			t.Errorf("step %d: %v, want %v", step, got, tt.want)
		}
	}
}

// TestExponent is ceil(log2(interval / (8 x 127))) at its edges (ECN#, section 4.3).
func TestExponent(t *testing.T) {
	for interval, want := range map[uint32]int{1016: 0, 1017: 1, 509: 0, 508: -1, 255: -1, 254: -2, 2032: 1, 2033: 2} {
		if got := exponent(interval); got != want {
			t.Errorf("%d: %d, want %d", interval, got, want)
		}
	}
}

// TestECNSharpLimits: a program's interval has from a tick to the most that times can be
// compared over.
func TestECNSharpLimits(t *testing.T) {
	for text, good := range map[string]bool{"1us": true, "999ns": false, "999s": true, "1000s": false} {
		_, err := Table().New("ecn-sharp", map[string]any{"arithmetic": "tofino", "pst_interval": text}, env())
		if (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestMQECNWholeLengthAtFixedTimes: with a weight of 1 the length at the last fixed time is
// compared, not the current one (section 4.1).
func TestMQECNWholeLengthAtFixedTimes(t *testing.T) {
	const us = time.Microsecond
	k := &packet.Packet{Size: 1500}
	s := mqecn(t, rounds(), map[string]any{"weight": 1, "average_every": "10us"})
	long := View{Bytes: 40000, PortBytes: 1, Packets: 1}
	for at, want := range []Verdict{9: Pass, 11: Mark, 12: Mark} {
		if at > 8 && at != 10 {
			if got := s.Arrive(time.Duration(at)*us, k, long); got != want {
				t.Errorf("at %d us: %v, want %v", at, got, want)
			}
		}
	}
}

// TestMQECNCountsTheArrivingInAverages: count_arriving counts the packet in the length that
// is averaged: half of 63,000 is below K, half of 64,500 above.
func TestMQECNCountsTheArrivingInAverages(t *testing.T) {
	for counts, want := range map[bool]Verdict{false: Pass, true: Mark} {
		s := mqecn(t, rounds(), map[string]any{"weight": 0.5, "count_arriving": counts})
		if got := s.Arrive(0, &packet.Packet{Size: 1500}, View{Bytes: 63000, PortBytes: 1, Packets: 1}); got != want {
			t.Errorf("count_arriving %v: %v, want %v", counts, got, want)
		}
	}
}

// TestMQECNAverageAgesFromEmpty: the average shrinks from when the queue became empty, as
// RED's does, by half each time that 1500 bytes would have taken.
func TestMQECNAverageAgesFromEmpty(t *testing.T) {
	k := &packet.Packet{Size: 1500}
	s := mqecn(t, rounds(), map[string]any{"weight": 0.5})
	s.Arrive(0, k, View{Bytes: 200000, PortBytes: 1, Packets: 1}) // 100,000
	s.Depart(time.Millisecond, k, View{PortBytes: 1})
	if got := s.Arrive(time.Millisecond+12*time.Microsecond, k, View{PortBytes: 1}); got != Mark { // 50,000
		t.Errorf("%v: an average of 50,000 bytes is above K", got)
	}
}

// TestMQECNRoundsAreBusy: T_round does not decay while a queue that is served in rounds has
// packets, be it the first of them.
func TestMQECNRoundsAreBusy(t *testing.T) {
	k := &packet.Packet{Size: 1500}
	for _, busy := range []int{1, 3} {
		e := rounds()
		e.Strict = 1
		s := mqecn(t, e, map[string]any{"idle": "rounds", "beta": 0})
		s.Arrive(0, k, View{Queue: busy})
		s.Arrive(0, k, View{Queue: 2, PortBytes: 1500})
		ended(s, 4*turn, 2, false)
		s.Depart(4*turn, k, View{Queue: 2, PortBytes: 1500})
		s.Arrive(100*turn, k, View{Queue: 2, PortBytes: 1500})
		if got := threshold(s, 2); got != 8000 {
			t.Errorf("queue %d is busy: %d, want 8000", busy, got)
		}
		// A strict queue begins and ends nothing.
		s.Depart(100*turn, k, View{Queue: 0, PortBytes: 1500})
		s.Arrive(200*turn, k, View{Queue: 0, PortBytes: 1500})
		if got := threshold(s, 2); got != 8000 {
			t.Errorf("queue %d is busy, and queue 0 comes and goes: %d, want 8000", busy, got)
		}
	}
}

// TestMQECNQueueComesBack: a queue that was empty counts again as soon as it has a packet.
func TestMQECNQueueComesBack(t *testing.T) {
	e := env()
	k := &packet.Packet{Size: 1500}
	s := mqecn(t, e, nil)
	s.Arrive(0, k, View{Queue: 0})
	for range 3 {
		s.Arrive(0, k, View{Queue: 1, PortBytes: 1})
		if got := threshold(s, 0); got != 16000 {
			t.Errorf("beside a busy queue: %d, want 16000", got)
		}
		s.Depart(0, k, View{Queue: 1, PortBytes: 1})
		if got := threshold(s, 0); got != 32000 {
			t.Errorf("alone: %d, want 32000", got)
		}
	}
}

// TestPIESpares: early drops spare a queue whose delay was below half of the target while the
// probability is below 0.2, and a queue of two packets (RFC 8033, section 4.1).
func TestPIESpares(t *testing.T) {
	s := build(t, "pie", map[string]any{"target": "100us"}).(*pie)
	for _, tt := range []struct {
		delay time.Duration
		prob  float64
		bytes int
		acts  bool
	}{
		{50*time.Microsecond - 1, 0.199, 90000, false},
		{50 * time.Microsecond, 0.199, 90000, true},
		{0, 0.2, 90000, true},
		{time.Second, 0.9, 3000, false},
		{time.Second, 0.9, 3001, true},
	} {
		q := &pieQueue{delay: tt.delay, prob: tt.prob}
		acts := false
		for range 500 {
			acts = s.early(q, tt.bytes) || acts
		}
		if acts != tt.acts {
			t.Errorf("%+v: acts %v", tt, acts)
		}
	}
}

// TestPIEDecays: the probability decays by 2 % where the delay is below half of the target now
// and was before, not at it (RFC 8033, section 4.2).
func TestPIEDecays(t *testing.T) {
	const half = 50 * time.Microsecond
	for _, tt := range []struct {
		was, is time.Duration
		decays  bool
	}{{half - 1, half - 1, true}, {half, half - 1, false}, {half - 1, half, false}} {
		s := build(t, "pie", map[string]any{"target": "100us", "alpha": 1e-9, "beta": 0}).(*pie)
		q := &pieQueue{delay: tt.was, sojourn: tt.is, prob: 0.05}
		s.control(q, 90000)
		if decays := q.prob < 0.0499; decays != tt.decays {
			t.Errorf("%+v: probability %v", tt, q.prob)
		}
	}
}

// TestPIEAveragesDrainTimes: a new measurement has the weight dq_threshold over 2^16 bytes
// (RFC 8033, section 5.2), a quarter here.
func TestPIEAveragesDrainTimes(t *testing.T) {
	s := build(t, "pie", map[string]any{"signal": delayByDepartureRate, "dq_threshold": "16384B"}).(*pie)
	q, now := &s.queues[0], time.Duration(0)
	cycle := func(took time.Duration) {
		s.measure(now, 1, View{Bytes: 90000}) // it begins
		now += took
		s.measure(now, 16384, View{Bytes: 0})
	}
	for _, tt := range []struct{ took, want time.Duration }{{100_000, 100_000}, {200_000, 125_000}, {25_000, 100_000}} {
		if cycle(tt.took); q.drainTime != tt.want {
			t.Errorf("after one of %v: %v, want %v", tt.took, q.drainTime, tt.want)
		}
	}
}
