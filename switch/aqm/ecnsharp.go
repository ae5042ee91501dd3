package aqm

import (
	"math"
	"math/rand/v2"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
)

// ECNSharp marks a departing packet when its sojourn time is larger than
// ins_target, or when sojourn times have stayed at pst_target or above for
// longer than pst_interval; then it marks one packet after gaps of
// pst_interval, pst_interval/2, pst_interval/3 and so on (ECN#, IEEE TCC 2022,
// section 3, Algorithm 1). Both conditions are evaluated for every packet, each
// queue on its own.
//
// The default targets follow section 3.4: ins_target and pst_interval are a high
// percentile of the lab's base RTTs, the 90th. Of pst_target the section says that
// it may be small, and as a rule of thumb no less than lambda times the mean RTT.
// By default it is 0.425 of the same percentile, the proportion of the paper's
// testbed (85 us to 200 us), which is above the mean times the 0.17 of DCTCP
// (section 2.1). With pst_rule: average it is the mean, which with a single base
// RTT is as long as ins_target, so that the persistent rule finds little to do.
//
// With signal length, the bytes that a packet leaves behind in its queue are
// compared to the same targets times the port's rate (section 3.5).
type ECNSharp struct {
	InsTarget   time.Duration `lab:"ins_target" tune:"0.2rtt..4rtt" range:"0s..100h" doc:"sojourn time above which every packet is marked; a base RTT when absent, see rtt"`
	PstTarget   time.Duration `lab:"pst_target" tune:"0.01rtt..1rtt" range:"0s..100h" doc:"sojourn time from which a queue counts as standing; when absent as pst_rule says"`
	PstInterval time.Duration `lab:"pst_interval" tune:"0.25rtt..4rtt" range:"0s..100h" doc:"how long a queue stands before a packet is marked, and the first gap between marks; a base RTT when absent, see rtt"`
	RTT         Statistic     `lab:"rtt" what:"statistic" doc:"which of the lab's base RTTs absent times are computed from"`
	PstRule     string        `lab:"pst_rule" oneof:"testbed,average" what:"rule" doc:"pst_target when absent: testbed (0.425 of rtt, the proportion of the paper's testbed) or average (the mean of base RTTs, its rule of thumb with a lambda of 1)"`
	Signal      string        `lab:"signal" oneof:"sojourn,length" what:"choice" doc:"sojourn, or length (the bytes left behind, against the targets times the rate)"`
	Gaps        string        `lab:"gaps" oneof:"harmonic,root" what:"choice" doc:"harmonic: pst_interval/count after the last due time (the paper); root: pst_interval/sqrt(count) after the last mark (the authors' simulator)"`
	InsMin      time.Duration `lab:"ins_min" range:"0s..100h" doc:"probabilistic form: sojourn time up to which the instantaneous rule marks nothing"`
	InsMax      time.Duration `lab:"ins_max" range:"0s..100h" doc:"probabilistic form: sojourn time above which it marks every packet; excludes ins_target"`
	PMax        float64       `lab:"pmax" range:"(0, 1]" doc:"probabilistic form: probability of a mark at ins_max, rising from zero at ins_min"`
	Arithmetic  string        `lab:"arithmetic" oneof:"exact,tofino" what:"choice" doc:"exact, or tofino: the persistent rule in the 32-bit registers and tables of the paper's switch program, pst_interval in its ticks of 1.024us, one a us"`
	Clock       string        `lab:"clock" oneof:"less,printed" what:"choice" doc:"tofino: when the clock has wrapped: less (the tick fell, safe) or printed (it did not rise, which two packets in a tick trip)"`
	Division    string        `lab:"division" oneof:"scaled,printed" what:"choice" doc:"tofino: table of pst_interval/count: scaled (right for every interval) or printed (right from 509us to 1016us)"`
}

// The values of ECNSharp's choices.
const (
	signalSojourn    = "sojourn"
	signalLength     = "length"
	pstTestbed       = "testbed"
	pstAverage       = "average"
	gapsHarmonic     = "harmonic"
	gapsRoot         = "root"
	arithmeticExact  = "exact"
	arithmeticTofino = "tofino"
	clockLess        = "less"
	divisionScaled   = "scaled"
	asPrinted        = "printed"
)

// pstShare is pst_target over ins_target on the paper's testbed.
const pstShare = 85.0 / 200

type ecnSharp struct {
	instant    ramp // over the signal: nanoseconds, or bytes
	persistent persistence
	length     bool
	rand       *rand.Rand
}

// persistence is the persistent rule: marks is asked once for every departing
// packet and its signal.
type persistence interface {
	marks(now time.Duration, queue int, signal float64) bool
}

var _ Scheme = (*ecnSharp)(nil)

func newECNSharp(p ECNSharp, env Env) (Scheme, error) {
	instant := ramp{float64(p.InsMin), float64(p.InsMax), p.PMax}
	if err := p.check(instant); err != nil {
		return nil, err
	}
	if err := p.fill(env); err != nil {
		return nil, err
	}
	if p.InsMax == 0 {
		instant = cutoff(float64(p.InsTarget))
	}
	target := float64(p.PstTarget)
	length := p.Signal == signalLength
	if length {
		instant = instant.scaled(float64(env.Rate), 8e9)
		target = target * float64(env.Rate) / 8e9
	}
	s := &ecnSharp{instant: instant, length: length, rand: env.Rand}
	if p.Arithmetic == arithmeticTofino {
		s.persistent = newTofino(p, target, env.Queues)
		return s, nil
	}
	s.persistent = &episodes{
		target:   target,
		interval: p.PstInterval,
		root:     p.Gaps == gapsRoot,
		queues:   make([]episode, env.Queues),
	}
	return s, nil
}

// check refuses two rules at once, and what one arithmetic has and the other lacks.
func (p ECNSharp) check(instant ramp) error {
	given := ""
	if p.InsTarget != 0 {
		given = "ins_target"
	}
	if err := instant.check("ins_min", "ins_max", given); err != nil {
		return err
	}
	tofino := p.Arithmetic == arithmeticTofino
	switch {
	case p.PstTarget != 0 && p.PstRule != pstTestbed:
		return kind.Invalid("pst_rule", "pst_target is set: want one of the two")
	case tofino && p.Gaps == gapsRoot:
		return kind.Invalid("gaps", "the switch program has no square root: want harmonic, or arithmetic exact")
	case !tofino && p.Clock != clockLess:
		return kind.Invalid("clock", "exact arithmetic has no such clock: want arithmetic tofino")
	case !tofino && p.Division != divisionScaled:
		return kind.Invalid("division", "exact arithmetic has no such table: want arithmetic tofino")
	}
	return nil
}

// fill puts in the targets that the lab does not set, and checks them all.
func (p *ECNSharp) fill(env Env) error {
	if p.InsTarget == 0 && p.InsMax == 0 {
		p.InsTarget = env.Time("ins_target", 1, p.RTT)
	}
	if p.PstInterval == 0 {
		p.PstInterval = env.Time("pst_interval", 1, p.RTT)
	}
	switch {
	case p.PstTarget != 0:
	case p.PstRule == pstAverage:
		p.PstTarget = env.Time("pst_target", 1, MeanRTT)
	default:
		p.PstTarget = env.Time("pst_target", pstShare, p.RTT)
	}
	for _, t := range []struct {
		name  string
		value time.Duration
	}{{"ins_target", p.InsTarget}, {"pst_target", p.PstTarget}, {"pst_interval", p.PstInterval}} {
		if t.value == 0 && (t.name != "ins_target" || p.InsMax == 0) {
			return kind.Invalid(t.name, "missing, and the lab gives no base RTT to compute it from: want a time such as 200us")
		}
	}
	if p.Arithmetic == arithmeticTofino && (p.PstInterval < time.Microsecond || p.PstInterval >= maxTicks*time.Microsecond) {
		return kind.Invalid("pst_interval", "%v does not fit the registers: want 1us to 1000s", p.PstInterval)
	}
	return nil
}

func (s *ecnSharp) Arrive(time.Duration, *packet.Packet, View) Verdict { return Pass }

func (s *ecnSharp) Depart(now time.Duration, _ *packet.Packet, v View) Verdict {
	signal := float64(v.Waited)
	if s.length {
		signal = float64(v.Bytes)
	}
	// Both run for every packet: neither mark hides a packet from the other rule.
	persistent := s.persistent.marks(now, v.Queue, signal)
	if s.instant.marks(signal, s.rand) || persistent {
		return Mark
	}
	return Pass
}

// episodes is the persistent rule in exact arithmetic. An episode of marking
// lasts while the signal stays at target or above.
type episodes struct {
	target   float64
	interval time.Duration
	root     bool // the gaps of the authors' simulator
	queues   []episode
}

// episode is the state of one queue (ECN#, section 3.3).
type episode struct {
	above      bool          // the last packet's signal was at target or above
	firstAbove time.Duration // when it became so
	marking    bool
	count      int           // marks of this episode
	next       time.Duration // the next mark comes after this; it may lag behind now
}

func (e *episodes) marks(now time.Duration, queue int, signal float64) bool {
	q := &e.queues[queue]
	if !e.detected(q, now, signal) {
		q.marking = false
		return false
	}
	switch {
	case !q.marking:
		q.marking, q.count, q.next = true, 1, now+e.interval
		return true
	case e.root && now >= q.next:
		q.count++
		q.next = now + time.Duration(float64(e.interval)/math.Sqrt(float64(q.count)))
		return true
	case !e.root && now > q.next:
		q.count++
		q.next += e.interval / time.Duration(q.count)
		return true
	}
	return false
}

// detected tells whether the signal has been at target or above for longer than
// the interval.
func (e *episodes) detected(q *episode, now time.Duration, signal float64) bool {
	if signal < e.target {
		q.above = false
		return false
	}
	if !q.above {
		q.above, q.firstAbove = true, now
		return false
	}
	return now > q.firstAbove+e.interval
}
