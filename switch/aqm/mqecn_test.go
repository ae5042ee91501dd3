package aqm

import (
	"math"
	"sort"
	"testing"
	"time"

	"aqmlab/switch/packet"
	"aqmlab/units"
)

// turn is the time on the wire of a quantum of 1500 bytes at 1 Gbps: 1538
// bytes.
const turn = 12304 * time.Nanosecond

// rounds is env under a scheduler that gives each of its four queues a quantum
// of 1500 bytes a round.
func rounds() Env {
	e := env()
	e.Quanta = []int{1500, 1500, 1500, 1500}
	return e
}

// mqecn builds the scheme with K = 32 KB unless the parameters say otherwise.
func mqecn(t *testing.T, e Env, params map[string]any) Scheme {
	t.Helper()
	p := map[string]any{"threshold": "32KB"}
	for name, v := range params {
		p[name] = v
	}
	s, err := Table().New("mq-ecn", p, e)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// threshold is the longest busy queue that is not marked, with an arriving
// packet of 1500 bytes.
func threshold(s Scheme, queue int) int { return thresholdAt(s, queue, 0) }

// thresholdAt is [threshold] at a time.
func thresholdAt(s Scheme, queue int, at time.Duration) int {
	k := &packet.Packet{Size: 1500}
	return sort.Search(1<<20, func(n int) bool {
		return s.Arrive(at, k, View{Queue: queue, Bytes: n, PortBytes: 1, Packets: 1}) == Mark
	}) - 1
}

func ended(s Scheme, at time.Duration, queue int, emptied bool) {
	s.(RoundObserver).TurnEnded(at, queue, emptied)
}

// TestMQECNRounds works samples by hand: T <- 3/4 T + 1/4 sample, and K_i =
// 32 KB x min(turn/T, 1) (MQ-ECN, sections 3.2 and 3.3).
func TestMQECNRounds(t *testing.T) {
	s := mqecn(t, rounds(), nil)
	if got := threshold(s, 0); got != 32000 {
		t.Errorf("before any round: %d, want 32000", got)
	}
	ended(s, 4*turn, 0, false) // T = 1 turn
	if got := threshold(s, 0); got != 32000 {
		t.Errorf("a round as long as its quantum: %d, want 32000", got)
	}
	ended(s, 5*turn, 1, false) // T = 3/4 + 5/4 = 2 turns
	for q, want := range []int{16000, 16000, 16000, 16000} {
		if got := threshold(s, q); got != want {
			t.Errorf("queue %d: %d, want %d", q, got, want)
		}
	}
	ended(s, 14*turn, 0, true) // sample 10: T = 6/4 + 10/4 = 4 turns
	if got := threshold(s, 2); got != 8000 {
		t.Errorf("after a queue emptied: %d, want 8000", got)
	}
	ended(s, 14*turn, 0, false) // sample 0: T = 3 turns
	if got := threshold(s, 2); got != 10666 {
		t.Errorf("after a turn of no length: %d, want 10666", got)
	}
}

func TestMQECNFollowsQuanta(t *testing.T) {
	e := rounds()
	e.Quanta = []int{6000, 3000, 1500, 1500}
	s := mqecn(t, e, map[string]any{"beta": 0})
	ended(s, 8*turn, 2, false) // all four are busy: 4 + 2 + 1 + 1
	for q, want := range []int{16000, 8000, 4000, 4000} {
		if got := threshold(s, q); got != want {
			t.Errorf("queue %d: %d, want %d", q, got, want)
		}
	}
}

func TestMQECNSampleExhausted(t *testing.T) {
	s := mqecn(t, rounds(), map[string]any{"sample": "exhausted", "beta": 0})
	ended(s, 8*turn, 0, true)
	if got := threshold(s, 0); got != 32000 {
		t.Errorf("an emptied queue gave a sample: %d", got)
	}
	ended(s, 10*turn, 0, false) // since the end of the last turn, not since 0
	if got := threshold(s, 0); got != 16000 {
		t.Errorf("threshold %d, want 16000", got)
	}
}

// A queue's round starts when it becomes active, but not while its last packet
// is still on its way out.
func TestMQECNActivation(t *testing.T) {
	k := &packet.Packet{Size: 1500}
	s := mqecn(t, rounds(), map[string]any{"beta": 0})
	s.Arrive(100*turn, k, View{Queue: 1, PortBytes: 1500})
	ended(s, 104*turn, 1, true)
	if got := threshold(s, 1); got != 8000 {
		t.Errorf("active for four turns: %d, want 8000", got)
	}
	s.Arrive(103*turn, k, View{Queue: 1, PortBytes: 1500})
	ended(s, 106*turn, 1, false)
	if got := threshold(s, 1); got != 16000 {
		t.Errorf("active for two turns after the last one: %d, want 16000", got)
	}
}

// TestMQECNIdle: every t_idle of an empty port, from the end of its last
// packet, multiplies T by beta (MQ-ECN, section 3.3.1).
func TestMQECNIdle(t *testing.T) {
	tests := []struct {
		params map[string]any
		idle   time.Duration
		want   int
	}{
		{nil, -turn, 8000}, // the last packet has just begun to leave
		{nil, 11999, 8000},
		{nil, 12000, 16000}, // 1500 bytes at 1 Gbps
		{nil, 23999, 16000},
		{nil, 24000, 32000},
		{nil, time.Hour, 32000},
		{map[string]any{"t_idle": "100us"}, 99999, 8000},
		{map[string]any{"t_idle": "100us"}, 100000, 16000},
	}
	for _, tt := range tests {
		s := mqecn(t, rounds(), tt.params)
		s.(*mqECNRounds).rounds.round.beta = 0.5
		ended(s, 8*turn, 0, false) // T = 4 turns
		k := &packet.Packet{Size: 1500}
		s.Depart(100*turn, k, View{})
		s.Arrive(101*turn+tt.idle, k, View{})
		if got := threshold(s, 0); got != tt.want {
			t.Errorf("%v idle for %v: %d, want %d", tt.params, tt.idle, got, tt.want)
		}
	}
}

// TestMQECNConverges: 10 Gbps, quantum 18 KB. When a second queue joins, the
// rate quantum/T_round comes within 1 % of 5 Gbps after 432 us (30 samples)
// with a weight of 0.875, and after 202 us (14 samples) with 0.75.
func TestMQECNConverges(t *testing.T) {
	for beta, want := range map[float64]int{0.875: 30, 0.75: 14} {
		e := rounds()
		e.Rate, e.Quanta = 10*units.Gbps, []int{18000, 18000}
		e.Queues, e.Weights = 2, []int{1, 1}
		s := mqecn(t, e, map[string]any{"beta": beta})
		quantum := 14764800 * time.Nanosecond / 1000 // 18 KB in full packets, 12 x 1538 bytes
		now := time.Duration(0)
		for range 400 {
			now += quantum
			ended(s, now, 0, false)
		}
		s.Arrive(now-quantum, &packet.Packet{Size: 1500}, View{Queue: 1, PortBytes: 1500})
		samples := 0
		for share := 1.0; math.Abs(share/0.5-1) > 0.01; samples++ {
			now += quantum
			ended(s, now, (samples+1)%2, false)
			part, all := s.(*mqECNRounds).rounds.shareOf(0)
			share = part / all
		}
		if samples != want {
			t.Errorf("beta %v: %d samples, want %d", beta, samples, want)
		}
	}
}

// Strict queues keep K, and their turns are no rounds (MQ-ECN, section 3.4).
func TestMQECNStrict(t *testing.T) {
	e := rounds()
	e.Strict = 1
	s := mqecn(t, e, map[string]any{"beta": 0})
	ended(s, 2*turn, 1, false)
	ended(s, 900*turn, 0, false)
	for q, want := range []int{32000, 16000, 16000, 16000} {
		if got := threshold(s, q); got != want {
			t.Errorf("queue %d: %d, want %d", q, got, want)
		}
	}
}

// TestMQECNWeights: without rounds a queue has its weight over those of all
// non-empty queues (MQ-ECN, section 3.4).
func TestMQECNWeights(t *testing.T) {
	k := &packet.Packet{Size: 1500}
	e := env()
	e.Weights, e.Strict = []int{9, 4, 2, 2}, 1
	s := mqecn(t, e, nil)
	busy := func(q int) { s.Arrive(0, k, View{Queue: q, PortBytes: 1}) }
	steps := []struct {
		do   func()
		want int // of queue 1
	}{
		{func() { busy(1) }, 32000},
		{func() { busy(0) }, 32000}, // strict: no weight
		{func() { busy(2) }, 21333}, // 4/6
		{func() { busy(3) }, 16000}, // 4/8
		{func() { busy(3) }, 16000},
		{func() { s.Depart(0, k, View{Queue: 3, Packets: 1, PortBytes: 1}) }, 16000},
		{func() { s.Depart(0, k, View{Queue: 3, PortBytes: 1}) }, 21333},
		{func() { s.Depart(0, k, View{Queue: 2, PortBytes: 1}) }, 32000},
	}
	for i, step := range steps {
		step.do()
		if got := threshold(s, 1); got != step.want {
			t.Errorf("step %d: %d, want %d", i, got, step.want)
		}
	}
	if got := threshold(s, 0); got != 32000 {
		t.Errorf("strict queue: %d, want 32000", got)
	}
}

// The averaged sum takes one sample a departure: 0, 1, 1.75, 2.3125 of four.
func TestMQECNSmoothWeights(t *testing.T) {
	k := &packet.Packet{Size: 1500}
	s := mqecn(t, env(), map[string]any{"smooth": true})
	for q := range 4 {
		s.Arrive(0, k, View{Queue: q, PortBytes: 1})
	}
	for i, want := range []int{32000, 32000, 18285, 13837} {
		if got := threshold(s, 0); got != want {
			t.Errorf("after %d departures: %d, want %d", i, got, want)
		}
		s.Depart(0, k, View{Queue: 0, Packets: 5, PortBytes: 1})
	}
	s.Depart(0, k, View{Queue: 0})
	s.Arrive(turn+10*12*time.Microsecond, k, View{}) // ten times t_idle
	if got := threshold(s, 0); got != 32000 {
		t.Errorf("after idling: %d, want 32000", got)
	}
}

func TestMQECNCountsTheArrivingPacket(t *testing.T) {
	s := mqecn(t, rounds(), map[string]any{"count_arriving": true})
	if got := threshold(s, 0); got != 30500 {
		t.Errorf("threshold %d, want 30500: the packet of 1500 bytes counts", got)
	}
}

func TestMQECNStandardThreshold(t *testing.T) {
	for lambda, want := range map[float64]int{1: 31250, 0.17: 5312} {
		s := mqecn(t, rounds(), map[string]any{"threshold": "standard", "lambda": lambda})
		if got := threshold(s, 3); got != want {
			t.Errorf("lambda %v: %d, want %d", lambda, got, want)
		}
	}
}

// TestProbabilisticMQECN: both ends scale, the probability does not (MQ-ECN,
// section 3.4).
func TestProbabilisticMQECN(t *testing.T) {
	s := mqecn(t, rounds(), map[string]any{"threshold": "standard", "kmin": "20KB", "kmax": "40KB", "pmax": 0.5, "beta": 0})
	ended(s, 2*turn, 0, false) // half the link: 10 KB to 20 KB
	tests := []struct{ bytes, min, max int }{
		{10000, 0, 0},
		{15000, 2283, 2717}, // a quarter of 10,000; five standard deviations
		{20000, 4750, 5250},
		{20001, 10000, 10000},
	}
	for _, tt := range tests {
		marks := 0
		for range 10000 {
			if s.Arrive(0, nil, View{Bytes: tt.bytes, PortBytes: tt.bytes, Packets: 10}) == Mark {
				marks++
			}
		}
		if marks < tt.min || marks > tt.max {
			t.Errorf("%d bytes: %d marks, want %d to %d", tt.bytes, marks, tt.min, tt.max)
		}
	}
}

func TestMQECNRefuses(t *testing.T) {
	refuses(t, "mq-ecn", []refusal{
		{map[string]any{"threshold": "minimum"}, "threshold: minimum is a static"},
		{map[string]any{"threshold": "32KB", "kmax": "9KB"}, "threshold: excludes kmin and kmax"},
		{map[string]any{"threshold": "-1KB"}, "threshold: "},
		{map[string]any{"kmin": "-1KB", "kmax": "9KB"}, "kmin: "},
		{map[string]any{"lambda": 0}, "lambda: 0 is outside (0, 1000]"},
		{map[string]any{"beta": 1}, "beta: 1 is outside [0, 1)"},
		{map[string]any{"beta": -0.1}, "beta: -0.1 is outside [0, 1)"},
		{map[string]any{"t_idle": "-1us"}, "t_idle: -1us is outside 0s to 360000s"},
		{map[string]any{"sample": "some"}, "sample: unknown"},
		{map[string]any{"kmin": "9KB"}, "kmax: missing"},
	})
	e := env()
	e.RTTs = RTTs{}
	if _, err := Table().New("mq-ecn", nil, e); err == nil {
		t.Error("accepts the standard threshold without a base RTT")
	}
}

func TestMQECNRoundsAllocateNothing(t *testing.T) {
	s := mqecn(t, rounds(), nil)
	k := &packet.Packet{Size: 1500}
	n := testing.AllocsPerRun(100, func() {
		s.Arrive(0, k, View{})
		ended(s, 0, 0, true)
		s.Depart(0, k, View{})
	})
	if n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
