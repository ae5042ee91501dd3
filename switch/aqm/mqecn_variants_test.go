package aqm

import (
	"math"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// TestMQECNOnceARound: section 3.3.1 takes a sample whenever a queue finishes its
// service, not once a round, because the number of samples in a time would then
// depend on how many queues are active. The variant takes the latter.
func TestMQECNOnceARound(t *testing.T) {
	const count = 24 // turns
	for _, tt := range []struct {
		once   bool
		queues int
		want   int
	}{
		{false, 1, count}, {false, 2, count}, {false, 4, count},
		{true, 1, count}, {true, 2, count / 2}, {true, 4, count / 4},
	} {
		s := mqecn(t, rounds(), map[string]any{"once_a_round": tt.once})
		samples := 0
		s.(Estimator).Estimates(func(time.Duration, Estimate) { samples++ })
		for q := range tt.queues {
			s.Arrive(1, &packet.Packet{Size: 1500}, View{Queue: q, PortBytes: 1500})
		}
		for i := range count {
			ended(s, time.Duration(i+1)*turn, i%tt.queues, false)
		}
		if samples != tt.want {
			t.Errorf("once %v, %d busy queues: %d samples in %d turns, want %d", tt.once, tt.queues, samples, count, tt.want)
		}
	}
}

// TestMQECNOnceARoundByHand: a queue that leaves the round passes its closing on to the
// next one that was served since, and each sample is a whole round of a queue.
func TestMQECNOnceARoundByHand(t *testing.T) {
	s := mqecn(t, rounds(), map[string]any{"once_a_round": true, "beta": 0})
	for _, step := range []struct {
		at      time.Duration // in turns
		queue   int
		emptied bool
		want    int // threshold after it, 32,000 bytes over the round in turns
	}{
		{4, 0, false, 8000},  // of four
		{5, 1, false, 8000},  // in the round that begins at 4
		{6, 2, true, 8000},   // leaves: no sample
		{7, 3, false, 8000},  // still
		{8, 0, true, 8000},   // the round is over: 8 - 4
		{9, 1, false, 8000},  // put at the tail at 5, before the round that begins at 8
		{10, 3, false, 8000}, // at 7
		{11, 1, false, 16000},
	} {
		ended(s, step.at*turn, step.queue, step.emptied)
		if got := threshold(s, 1); got != step.want {
			t.Errorf("at %d turns: %d, want %d", step.at, got, step.want)
		}
	}
}

// TestMQECNUpdatesOnATimeBasis: T_round may be updated at fixed times instead of with
// each event (section 4.1). Each takes the latest round time.
func TestMQECNUpdatesOnATimeBasis(t *testing.T) {
	s := mqecn(t, rounds(), map[string]any{"beta": 0.5, "t_update": "10us"})
	arrive := func(at time.Duration) int {
		s.Arrive(at, &packet.Packet{Size: 1500}, View{Queue: 0, PortBytes: 1, Packets: 1})
		return thresholdAt(s, 0, at)
	}
	ended(s, 2*turn, 0, false) // at 24.6 us, of 2 turns
	for _, step := range []struct {
		us   time.Duration
		want int
	}{
		{29, 32000}, // no update since: T is zero
		{30, 32000}, // 1 turn
		{39, 32000},
		{40, 21333}, // 3/2 turns
		{60, 17066}, // 15/8 turns: two more updates with the same sample
	} {
		if got := arrive(step.us * time.Microsecond); got != step.want {
			t.Errorf("at %d us: %d, want %d", step.us, got, step.want)
		}
	}
}

// After idle time the last sample is no longer that of a round: T has decayed by beta
// for each t_idle, and updates do not bring the old round back.
func TestMQECNTimeBasisAfterIdle(t *testing.T) {
	s := mqecn(t, rounds(), map[string]any{"beta": 0.5, "t_update": "10us", "t_idle": "10us"})
	k := &packet.Packet{Size: 1500}
	ended(s, 8*turn, 0, false)
	s.Arrive(1000*turn, k, View{PortBytes: 1, Packets: 1}) // T is 8 turns by now
	s.Depart(1000*turn, k, View{})
	back := 1001*turn + 20*time.Microsecond
	s.Arrive(back, k, View{}) // two samples of zero: 2 turns
	if got := thresholdAt(s, 0, back); got != 16000 {
		t.Errorf("after idling: %d, want 16000", got)
	}
	if got := thresholdAt(s, 0, back+20*time.Microsecond); got != 32000 {
		t.Errorf("two updates later, without a round: %d, want 32000", got)
	}
}

// TestMQECNIdleOfRounds: the authors' ns-2 code of TCN lets T_round decay while the
// queues that are served in rounds are empty, whatever the strict ones hold. The paper
// speaks of the port.
func TestMQECNIdleOfRounds(t *testing.T) {
	for idle, want := range map[string]int{"port": 8000, "rounds": 32000} {
		e := rounds()
		e.Strict = 1
		s := mqecn(t, e, map[string]any{"idle": idle, "beta": 0})
		k := &packet.Packet{Size: 1500}
		s.Arrive(0, k, View{Queue: 0})
		s.Arrive(0, k, View{Queue: 1, PortBytes: 1500})
		ended(s, 4*turn, 1, false)
		s.Depart(4*turn, k, View{Queue: 1, PortBytes: 1500})
		s.Arrive(100*turn, k, View{Queue: 1, PortBytes: 1500}) // queue 0 was busy all the time
		if got := threshold(s, 2); got != want {
			t.Errorf("idle %s: %d, want %d", idle, got, want)
		}
	}
}

// TestMQECNAverageLength: with a weight the average is compared that RED takes (section
// 4.1): here 20, 20, 20, 30 and 35 KB.
func TestMQECNAverageLength(t *testing.T) {
	k := &packet.Packet{Size: 1500}
	s := mqecn(t, rounds(), map[string]any{"threshold": "30KB", "weight": 0.5})
	for i, want := range []Verdict{Pass, Pass, Pass, Pass, Mark} {
		got := s.Arrive(0, k, View{Bytes: []int{40000, 20000, 20000, 40000, 40000}[i], PortBytes: 1, Packets: 1})
		if got != want {
			t.Errorf("packet %d: %v, want %v", i, got, want)
		}
	}
	s.Depart(0, k, View{})
	// An empty queue halves the average each time that a packet would have taken.
	s.Arrive(2*12*time.Microsecond, k, View{})
	if got, want := s.(*mqECNRounds).length.queues[0].average, 35000.0/4; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("after two packets' times: %v, want %v", got, want)
	}
}

// TestMQECNAverageAtFixedTimes: chips update the average at fixed times, not with each
// packet (section 4.1).
func TestMQECNAverageAtFixedTimes(t *testing.T) {
	k := &packet.Packet{Size: 1500}
	s := mqecn(t, rounds(), map[string]any{"weight": 0.5, "average_every": "10us"})
	us := time.Microsecond
	average := func() float64 { return s.(*mqECNRounds).length.queues[0].average }
	s.Arrive(1*us, k, View{})
	for range 20 { // within one interval: nothing is averaged
		s.Arrive(9*us, k, View{Bytes: 38500, PortBytes: 1, Packets: 1})
	}
	if got := average(); got != 0 {
		t.Errorf("before the first time: %v", got)
	}
	s.Depart(11*us, k, View{Bytes: 38500, PortBytes: 1, Packets: 1}) // 40,000 bytes until then
	if got := average(); got != 20000 {
		t.Errorf("at 10 us: %v, want 20000", got)
	}
	if got := s.Arrive(35*us, k, View{Bytes: 40000, PortBytes: 1, Packets: 1}); got != Mark || average() != 35000 { // 30, 35
		t.Errorf("at 30 us: %v at %v, want a mark at 35000", got, average())
	}
}

func TestMQECNVariantsExclude(t *testing.T) {
	refuses(t, "mq-ecn", []refusal{ // env has a scheduler without rounds
		{map[string]any{"threshold": "32KB", "once_a_round": true}, "once_a_round: the scheduler serves in no rounds"},
		{map[string]any{"threshold": "32KB", "t_update": "10us"}, "t_update: the scheduler serves in no rounds"},
		{map[string]any{"threshold": "32KB", "count_arriving": true, "average_every": "10us"}, "count_arriving: excludes average_every"},
		{map[string]any{"threshold": "32KB", "weight": 0}, "weight: 0 is outside (0, 1]"},
		{map[string]any{"threshold": "32KB", "idle": "queue"}, "idle: unknown"},
	})
}
