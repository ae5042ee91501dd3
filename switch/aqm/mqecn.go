package aqm

import (
	"math"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// MQECN scales the standard threshold of each queue by the share of the link
// that the scheduler's rounds leave to it (MQ-ECN, NSDI 2016, section 3.2):
//
//	K_i = K x min(quantum_i / (C x T_round), 1)
//
// and marks an arriving packet when its queue is longer than K_i. Queues that
// are served strictly before the others keep K (section 3.4). Under a scheduler
// without rounds the share is the queue's weight over the weights of all
// non-empty queues (section 3.4). No round measured yet means K.
//
// Quanta count network-layer bytes and rounds take wire time, so a quantum
// counts as full packets of 1500 bytes on the wire. C is the line rate: behind a
// limiter at 99.5 % of it a lone queue settles at 0.995 K.
type MQECN struct {
	Threshold     Threshold     `lab:"threshold" doc:"threshold K of a queue that has the link to itself: a size, or standard (rate x base RTT x lambda)"`
	Lambda        float64       `lab:"lambda" range:"(0, 1000]" doc:"share of the bandwidth-delay product that the transport needs as standing queue"`
	Beta          float64       `lab:"beta" range:"[0, 1)" doc:"weight of the old value in the average of the round time"`
	TIdle         time.Duration `lab:"t_idle" range:"0s..100h" doc:"idle time of the port that counts as one round of length zero; the time of 1500 bytes at the port's rate when absent"`
	Sample        string        `lab:"sample" oneof:"both,exhausted" what:"choice" doc:"which turns give a round time: both (the quantum was used up, or the queue emptied), or exhausted (only the former)"`
	CountArriving bool          `lab:"count_arriving" doc:"count the arriving packet in the queue length, as the authors' code does"`
	Smooth        bool          `lab:"smooth" doc:"schedulers without rounds: average the sum of weights with beta, one sample a departure"`
	KMin          units.Size    `lab:"kmin" range:"0B..1000GB" doc:"probabilistic form: queue length up to which no packet is marked, scaled as K is"`
	KMax          units.Size    `lab:"kmax" range:"0B..1000GB" doc:"probabilistic form: queue length above which every packet is marked, scaled as K is; excludes threshold"`
	PMax          float64       `lab:"pmax" range:"(0, 1]" doc:"probabilistic form: probability of a mark at kmax, rising from zero at kmin"`
}

// The turns that give a round time.
const (
	sampleBoth      = "both"
	sampleExhausted = "exhausted"
)

// mqECN is a port. What shares the link among its queues is in share.
type mqECN struct {
	MQECN
	Env
	curve     ramp // over the queue length in bytes, of a queue with the whole link
	share     sharing
	idleSince time.Duration // end of the last packet that left the port empty
}

// sharing estimates which part of the link each queue has.
type sharing interface {
	arrive(now time.Duration, v View)
	depart(v View)
	idle(slots float64)                    // the port was idle for so many times t_idle
	shareOf(queue int) (part, all float64) // the queue has part/all of the link
}

var _ Scheme = (*mqECN)(nil)

func newMQECN(p MQECN, env Env) (Scheme, error) {
	if p.Threshold.Rule == Minimum.Rule {
		return nil, kind.Invalid("threshold", "minimum is a static threshold: want standard or a size such as 32KB")
	}
	curve, err := p.curve(env)
	if err != nil {
		return nil, err
	}
	if p.TIdle == 0 {
		p.TIdle = max(env.Rate.Time(packet.FullPacket), 1)
	}
	s := mqECN{MQECN: p, Env: env, curve: curve}
	if env.Quanta == nil {
		s.share = newWeightShares(p, env)
		return &s, nil
	}
	rounds := newRoundShares(p, env)
	s.share = rounds
	return &mqECNRounds{s, rounds}, nil
}

// curve is the marking curve of a queue that has the link to itself.
func (p MQECN) curve(env Env) (ramp, error) {
	given := ""
	if p.Threshold != Standard {
		given = "threshold"
	}
	r := ramp{float64(p.KMin), float64(p.KMax), p.PMax}
	if err := r.check("kmin", "kmax", given); err != nil {
		return r, err
	}
	switch {
	case p.KMax > 0:
		return r, nil
	case p.Threshold.Rule == "":
		return cutoff(float64(p.Threshold.Size)), nil
	case env.RTT == 0:
		return r, kind.Invalid("threshold", "%s needs the lab's base RTT (rtt): set one, or give a size such as 32KB", p.Threshold)
	}
	return cutoff(float64(whole(standardThreshold(float64(env.Rate), env.RTT, p.Lambda)))), nil
}

func (s *mqECN) Arrive(now time.Duration, p *packet.Packet, v View) Verdict {
	if v.PortBytes == 0 && now > s.idleSince {
		if slots := (now - s.idleSince) / s.TIdle; slots > 0 {
			s.share.idle(float64(slots))
		}
	}
	s.share.arrive(now, v)
	if s.CountArriving {
		v.Bytes += int(p.Size)
	}
	curve := s.curve
	if v.Queue >= s.Strict {
		part, all := s.share.shareOf(v.Queue)
		curve = curve.scaled(part, all)
	}
	if curve.marks(float64(v.Bytes), s.Rand) {
		return Mark
	}
	return Pass
}

func (s *mqECN) Depart(now time.Duration, p *packet.Packet, v View) Verdict {
	s.share.depart(v)
	if v.PortBytes == 0 {
		s.idleSince = now + s.Rate.Time(int(p.Size)+packet.FrameOverhead)
	}
	return Pass
}

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
	if queue >= s.Strict {
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
