package aqm

import (
	"math"
	"time"

	"aqmlab/switch/packet"
)

// average is the filter of MQ-ECN, section 3.3.1: beta is the weight of the old
// value. The conversions keep a compiler from fusing the operations, which
// would make results depend on the processor.
type average struct{ value, beta float64 }

func (a *average) add(sample float64) {
	a.value = float64(a.beta*a.value) + float64((1-a.beta)*sample)
}

// idle adds n samples of zero.
func (a *average) idle(n float64) { a.value *= math.Pow(a.beta, n) }

// mqECNRounds is MQ-ECN under a scheduler with rounds.
type mqECNRounds struct {
	mqECN
	rounds *roundShares
}

// Estimates calls to for every estimate of what a round leaves to a queue.
func (s *mqECNRounds) Estimates(to func(now time.Duration, e Estimate)) { s.rounds.Estimates(to) }

var (
	_ RoundObserver = (*mqECNRounds)(nil)
	_ Estimator     = (*mqECNRounds)(nil)
)

func (s *mqECNRounds) TurnEnded(now time.Duration, queue int, emptied bool) {
	if queue >= s.strict {
		s.rounds.turnEnded(now, queue, emptied)
	}
}

// roundShares estimates shares from the time that rounds take: a backlogged
// queue sends its quantum once a round (MQ-ECN, sections 3.2 and 3.3).
type roundShares struct {
	estimates
	line      float64         // what the link takes of full packets, in bit/s of their network-layer bytes
	round     average         // T_round in nanoseconds
	quantum   []float64       // time of each queue's quantum on the wire, in nanoseconds
	start     []time.Duration // when each queue was last put at the tail of the round
	exhausted bool            // leave out turns that ended because the queue emptied
}

func newRoundShares(p MQECN, env Env) *roundShares {
	s := &roundShares{
		line:      float64(env.Rate) * packet.FullPacket / (packet.FullPacket + packet.FrameOverhead),
		round:     average{beta: p.Beta},
		quantum:   make([]float64, env.Queues),
		start:     make([]time.Duration, env.Queues),
		exhausted: p.Sample == sampleExhausted,
	}
	for q, bytes := range env.Quanta {
		wire := float64(bytes) * (packet.FullPacket + packet.FrameOverhead) / packet.FullPacket
		s.quantum[q] = wire * 8e9 / float64(env.Rate)
	}
	return s
}

// arrive starts the clock of a queue that becomes active: not before its last
// packet has left, which may still be on its way out.
func (s *roundShares) arrive(now time.Duration, v View) {
	if v.Packets == 0 {
		s.start[v.Queue] = max(s.start[v.Queue], now)
	}
}

func (s *roundShares) depart(View) {}

func (s *roundShares) turnEnded(now time.Duration, q int, emptied bool) {
	if !emptied || !s.exhausted {
		took := float64(now - s.start[q])
		s.round.add(took)
		if s.estimates != nil {
			s.tell(now, q, s.rate(q, took), s.rate(q, s.round.value))
		}
	}
	s.start[q] = now
}

// rate is what rounds of so many nanoseconds leave to a queue.
func (s *roundShares) rate(q int, round float64) float64 {
	return s.line * s.quantum[q] / max(round, s.quantum[q])
}

func (s *roundShares) idle(slots float64) { s.round.idle(slots) }

func (s *roundShares) shareOf(q int) (part, all float64) {
	return s.quantum[q], max(s.round.value, s.quantum[q])
}

// weightShares gives each queue its weight over the weights of all non-empty
// queues (MQ-ECN, section 3.4). A queue that becomes non-empty counts at once.
type weightShares struct {
	weight []float64
	busy   []bool
	strict int
	sum    float64 // of the weights of busy queues that are not strict; whole numbers, so exact
	mean   average // of sum
	smooth bool
}

func newWeightShares(p MQECN, env Env) *weightShares {
	s := &weightShares{
		weight: make([]float64, env.Queues),
		busy:   make([]bool, env.Queues),
		strict: env.Strict,
		mean:   average{beta: p.Beta},
		smooth: p.Smooth,
	}
	for q, w := range env.Weights {
		if q >= env.Strict {
			s.weight[q] = float64(w)
		}
	}
	return s
}

func (s *weightShares) arrive(_ time.Duration, v View) {
	if !s.busy[v.Queue] {
		s.busy[v.Queue] = true
		s.sum += s.weight[v.Queue]
	}
}

// depart samples the sum as it was while the packet stood in its queue: a queue
// of one packet is not an empty one.
func (s *weightShares) depart(v View) {
	s.mean.add(s.sum)
	if v.Packets == 0 && s.busy[v.Queue] {
		s.busy[v.Queue] = false
		s.sum -= s.weight[v.Queue]
	}
}

func (s *weightShares) idle(slots float64) { s.mean.idle(slots) }

func (s *weightShares) shareOf(q int) (part, all float64) {
	sum := s.sum
	if s.smooth {
		sum = s.mean.value
	}
	return s.weight[q], max(sum, s.weight[q])
}
