package aqm

import (
	"fmt"
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
// Rounds take wire time. Where lengths count network-layer bytes, a quantum
// counts as full packets of 1500 bytes on the wire. C is the line rate: behind a
// limiter at 99.5 % of it a lone queue settles at 0.995 K.
//
// The paper names variants that it does not measure. A chip may update T_round and
// the average length of queues at fixed times (section 4.1): t_update and
// average_every. Section 3.3.1 weighs a sample a turn against one a round:
// once_a_round. RED compares an average length with its threshold: weight.
type MQECN struct {
	Threshold     Threshold     `lab:"threshold" tune:"0.1bdp..4bdp" doc:"threshold K of a queue that has the link to itself: a size, or standard (rate x rtt x lambda)"`
	RTT           Statistic     `lab:"rtt" what:"statistic" doc:"which of the lab's base RTTs standard is computed from; the paper's is the average"`
	Lambda        float64       `lab:"lambda" range:"(0, 1000]" doc:"share of the bandwidth-delay product that the transport needs as standing queue"`
	Beta          float64       `lab:"beta" tune:"0..0.95" range:"[0, 1)" doc:"weight of the old value in the average of the round time"`
	TIdle         time.Duration `lab:"t_idle" range:"0s..100h" doc:"idle time of the port that counts as one round of length zero; the time of 1500 bytes at the port's rate when absent"`
	Sample        string        `lab:"sample" oneof:"both,exhausted" what:"choice" doc:"which turns give a round time: both (the quantum was used up, or the queue emptied), or exhausted (only the former)"`
	CountArriving bool          `lab:"count_arriving" doc:"count the arriving packet in the queue length, as the authors' code does"`
	Smooth        bool          `lab:"smooth" doc:"schedulers without rounds: average the sum of weights with beta, one sample a departure"`
	KMin          units.Size    `lab:"kmin" range:"0B..1000GB" doc:"probabilistic form: queue length up to which no packet is marked, scaled as K is"`
	KMax          units.Size    `lab:"kmax" range:"0B..1000GB" doc:"probabilistic form: queue length above which every packet is marked, scaled as K is; excludes threshold"`
	PMax          float64       `lab:"pmax" range:"(0, 1]" doc:"probabilistic form: probability of a mark at kmax, rising from zero at kmin"`

	OnceARound   bool          `lab:"once_a_round" doc:"take one round time a round, of the first queue that is served in it a second time, not one a turn"`
	TUpdate      time.Duration `lab:"t_update" range:"0s..100h" doc:"average the latest round time at multiples of this time, about that of a full packet; at each new round time when absent"`
	Idle         string        `lab:"idle" oneof:"port,rounds" what:"choice" doc:"which queues are empty while t_idle runs: port (all), or rounds (all but strict ones, as in the ns-2 code of TCN)"`
	Weight       float64       `lab:"weight" range:"(0, 1]" doc:"weight of the current length in the average length that is compared with K_i; 1 compares the current one"`
	AverageEvery time.Duration `lab:"average_every" range:"0s..100h" doc:"average the length at multiples of this time, as chips do; at each arrival when absent"`
}

// The turns that give a round time.
const (
	sampleBoth      = "both"
	sampleExhausted = "exhausted"
)

// The queues that are empty while the port counts as idle.
const (
	idlePort   = "port"
	idleRounds = "rounds"
)

// mqECN is a port. What shares the link among its queues is in share.
type mqECN struct {
	MQECN
	Env
	curve     ramp // over the queue length in bytes, of a queue with the whole link
	share     sharing
	length    lengths
	byRounds  bool          // idle time is that of the queues that are not strict
	inRounds  busyQueues    // those, where idle time is theirs
	idleSince time.Duration // end of the last packet that left the port idle
}

// sharing estimates which part of the link each queue has.
type sharing interface {
	arrive(now time.Duration, v View)
	depart(v View)
	idle(from, to time.Duration, slots float64) // the port was idle for so many times t_idle
	shareOf(queue int) (part, all float64)      // the queue has part/all of the link
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
	if p.CountArriving && p.AverageEvery > 0 {
		return nil, kind.Invalid("count_arriving", "excludes average_every: no packet arrives when the length is averaged")
	}
	if p.TIdle == 0 {
		p.TIdle = max(env.Rate.Time(packet.FullPacket), 1)
		env.tell("t_idle", units.FormatTime(p.TIdle), fmt.Sprintf("the time of %d bytes at %v", packet.FullPacket, env.Rate))
	}
	s := mqECN{MQECN: p, Env: env, curve: curve, byRounds: p.Idle != idlePort, inRounds: newBusyQueues(env.Queues)}
	s.length = newLengths(newLengthFilter(p.Weight, p.AverageEvery, env), env.Queues)
	if env.Quanta == nil {
		if name := p.ofRounds(); name != "" {
			return nil, kind.Invalid(name, "the scheduler serves in no rounds: want one that does, such as dwrr")
		}
		s.share = newWeightShares(p, env)
		return &s, nil
	}
	rounds := newRoundShares(p, env)
	s.share = rounds
	return &mqECNRounds{s, rounds}, nil
}

// ofRounds names a parameter that is set and needs a scheduler with rounds.
func (p MQECN) ofRounds() string {
	switch {
	case p.OnceARound:
		return "once_a_round"
	case p.TUpdate > 0:
		return "t_update"
	}
	return ""
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
	case env.RTTs.Of(p.RTT) == 0:
		return r, kind.Invalid("threshold", "%s needs the lab's base RTT (rtt): set one, or give a size such as 32KB", p.Threshold)
	}
	return cutoff(float64(whole(env.Length("threshold", p.Lambda, p.RTT)))), nil
}

func (s *mqECN) Arrive(now time.Duration, p *packet.Packet, v View) Verdict {
	if s.isIdle(v) && now > s.idleSince {
		if slots := (now - s.idleSince) / s.TIdle; slots > 0 {
			s.share.idle(s.idleSince, now, float64(slots))
		}
	}
	if s.byRounds && v.Queue >= s.Strict {
		s.inRounds.arrive(v)
	}
	s.share.arrive(now, v)
	counted := 0
	if s.CountArriving {
		counted = s.Lengths.Of(int(p.Size))
	}
	length := s.length.arrive(now, counted, v)
	curve := s.curve
	if v.Queue >= s.Strict {
		part, all := s.share.shareOf(v.Queue)
		curve = curve.scaled(part, all)
	}
	if curve.marks(length, s.Rand) {
		return Mark
	}
	return Pass
}

func (s *mqECN) Depart(now time.Duration, p *packet.Packet, v View) Verdict {
	s.share.depart(v)
	if s.length.queues != nil {
		s.length.depart(now, s.Lengths.Of(int(p.Size)), v)
	}
	if s.byRounds && v.Queue >= s.Strict {
		s.inRounds.depart(v)
	}
	if s.isIdle(v) {
		s.idleSince = now + s.Rate.Time(packet.OnWire(int(p.Size)))
	}
	return Pass
}

// isIdle tells whether the port is idle but for the packet that arrives or departs.
// With idle: rounds only packets of queues that are not strict begin and end that.
func (s *mqECN) isIdle(v View) bool {
	if !s.byRounds {
		return v.PortBytes == 0
	}
	return v.Queue >= s.Strict && s.inRounds.count == 0
}

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
	line      float64 // what the link takes of full packets, in bit/s of their lengths
	round     roundTime
	quantum   []float64       // time of each queue's quantum on the wire, in nanoseconds
	start     []time.Duration // when each queue was last put at the tail of the round
	exhausted bool            // leave out turns that ended because the queue emptied
	once      bool            // one sample a round
	began     time.Duration   // of the present round
}

func newRoundShares(p MQECN, env Env) *roundShares {
	full, wire := float64(env.fullPacket()), float64(packet.OnWire(packet.FullPacket))
	s := &roundShares{
		line:      float64(env.Rate) * full / wire,
		round:     roundTime{average: average{beta: p.Beta}, every: p.TUpdate},
		quantum:   make([]float64, env.Queues),
		start:     make([]time.Duration, env.Queues),
		exhausted: p.Sample == sampleExhausted,
		once:      p.OnceARound,
	}
	for q, bytes := range env.Quanta {
		s.quantum[q] = float64(bytes) * wire / full * 8e9 / float64(env.Rate)
	}
	return s
}

// arrive starts the clock of a queue that becomes active: not before its last
// packet has left, which may still be on its way out.
func (s *roundShares) arrive(now time.Duration, v View) {
	s.round.update(now)
	if v.Packets == 0 {
		s.start[v.Queue] = max(s.start[v.Queue], now)
	}
}

func (s *roundShares) depart(View) {}

func (s *roundShares) turnEnded(now time.Duration, q int, emptied bool) {
	if s.samples(q, emptied) {
		took := float64(now - s.start[q])
		s.round.sample(now, took)
		s.began = now
		if s.estimates != nil {
			s.tell(now, q, s.rate(q, took), s.rate(q, s.round.value))
		}
	}
	s.start[q] = now
}

// samples tells whether a turn that ends gives a round time. A round is over when
// the first queue has been served that was put at the tail since it began.
func (s *roundShares) samples(q int, emptied bool) bool {
	return !(emptied && s.exhausted) && !(s.once && s.start[q] < s.began)
}

// rate is what rounds of so many nanoseconds leave to a queue.
func (s *roundShares) rate(q int, round float64) float64 {
	return s.line * s.quantum[q] / max(round, s.quantum[q])
}

func (s *roundShares) idle(from, to time.Duration, slots float64) { s.round.idle(from, to, slots) }

func (s *roundShares) shareOf(q int) (part, all float64) {
	return s.quantum[q], max(s.round.value, s.quantum[q])
}

// weightShares gives each queue its weight over the weights of all non-empty
// queues (MQ-ECN, section 3.4). A queue that becomes non-empty counts at once.
type weightShares struct {
	weight []float64
	busy   busyQueues
	strict int
	sum    float64 // of the weights of busy queues that are not strict; whole numbers, so exact
	mean   average // of sum
	smooth bool
}

func newWeightShares(p MQECN, env Env) *weightShares {
	s := &weightShares{
		weight: make([]float64, env.Queues),
		busy:   newBusyQueues(env.Queues),
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
	if s.busy.arrive(v) {
		s.sum += s.weight[v.Queue]
	}
}

// depart samples the sum as it was while the packet stood in its queue: a queue
// of one packet is not an empty one.
func (s *weightShares) depart(v View) {
	s.mean.add(s.sum)
	if s.busy.depart(v) {
		s.sum -= s.weight[v.Queue]
	}
}

func (s *weightShares) idle(_, _ time.Duration, slots float64) { s.mean.idle(slots) }

func (s *weightShares) shareOf(q int) (part, all float64) {
	sum := s.sum
	if s.smooth {
		sum = s.mean.value
	}
	return s.weight[q], max(sum, s.weight[q])
}
