package aqm

import (
	"math/rand/v2"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// RED marks or drops arriving packets by a probability that grows with the
// averaged length of their queue (Floyd and Jacobson, Random Early Detection
// Gateways for Congestion Avoidance, 1993; ECN/RED of TCN, section 2.1). Up to
// min it does nothing, above max it acts on every packet (not gentle), between
// them it acts with a probability that rises from 0 to pmax, and that grows
// with each packet passed since the last action, which spaces them evenly (over 1
// to 1/p packets, as section 7 says and Linux does; the count of the paper's
// figure 2 would leave out the last). With min = max it is a threshold on the
// average. At an average of exactly max, Linux acts on every packet.
type RED struct {
	Min    units.Size `lab:"min" range:"0B..1000GB" doc:"average length up to which nothing is marked; a third of max when absent"`
	Max    units.Size `lab:"max" tune:"0.1bdp..4bdp" range:"0B..1000GB" doc:"average length above which everything is marked; rate x rtt when absent"`
	RTT    Statistic  `lab:"rtt" what:"statistic" doc:"which of the lab's base RTTs max is computed from"`
	PMax   float64    `lab:"pmax" tune:"0.01..1" range:"(0, 1]" doc:"probability of a mark when the average is at max"`
	Weight float64    `lab:"weight" tune:"0.001..1" range:"(0, 1]" doc:"weight of the current length in the average"`
	ECN    bool       `lab:"ecn" doc:"true marks packets and drops those that are not ECN-capable, false drops all"`
}

type red struct {
	min, max float64 // bytes
	pmax     float64
	average  lengthFilter
	act      Verdict
	rand     *rand.Rand
	queues   []redQueue
}

type redQueue struct {
	averageLength
	count int // packets passed between min and max since the last action, or since the average came above min
}

var _ Scheme = (*red)(nil)

func newRED(p RED, env Env) (Scheme, error) {
	if p.Max == 0 {
		p.Max = units.Size(whole(env.Length("max", 1, p.RTT)))
	}
	if p.Min == 0 {
		p.Min = p.Max / 3
		env.tell("min", p.Min.String(), "max / 3")
	}
	switch {
	case p.Max == 0:
		return nil, kind.Invalid("max", "missing, and the lab gives no base RTT (rtt) to compute it from: want a size such as 90KB")
	case p.Min > p.Max:
		return nil, kind.Invalid("min", "%v is outside 0B to max, %v", p.Min, p.Max)
	}
	s := &red{
		min: float64(p.Min), max: float64(p.Max), pmax: p.PMax,
		average: newLengthFilter(p.Weight, 0, env),
		act:     Drop,
		rand:    env.Rand,
		queues:  make([]redQueue, env.Queues),
	}
	if p.ECN {
		s.act = MarkOrDrop
	}
	return s, nil
}

func (s *red) Arrive(now time.Duration, _ *packet.Packet, v View) Verdict {
	q := &s.queues[v.Queue]
	q.arrive(now, v.Bytes, s.average)
	switch {
	case q.average <= s.min:
		q.count = 0
		return Pass
	case q.average > s.max:
		q.count = 0
		return s.act
	}
	p := s.pmax * (q.average - s.min) / (s.max - s.min)
	// p/(1 - count p) without its pole: past it every packet is due.
	if s.rand.Float64()*(1-float64(q.count)*p) >= p {
		q.count++
		return Pass
	}
	q.count = 0
	return s.act
}

func (s *red) Depart(now time.Duration, _ *packet.Packet, v View) Verdict {
	if v.Bytes == 0 {
		s.queues[v.Queue].emptied(now)
	}
	return Pass
}
