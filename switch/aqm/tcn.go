package aqm

import (
	"math/rand/v2"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
)

// TCN marks a departing packet when its sojourn time is larger than a
// threshold, the same for all queues and schedulers (TCN, CoNEXT 2016, section
// 4.1). It keeps no state, and it never drops.
//
// With tmax set it is the probabilistic form (TCN, section 4.3). The paper does
// not print the curve between the two times; it is linear, as RED's.
type TCN struct {
	Threshold time.Duration `lab:"threshold" doc:"sojourn time above which a packet is marked; without it, base RTT times lambda"`
	Lambda    float64       `lab:"lambda" doc:"share of the base RTT that the transport needs as standing queue; 1 when absent"`
	TMin      time.Duration `lab:"tmin" range:"0s..100h" doc:"probabilistic form: sojourn time up to which no packet is marked"`
	TMax      time.Duration `lab:"tmax" range:"0s..100h" doc:"probabilistic form: sojourn time above which every packet is marked; excludes threshold and lambda"`
	PMax      float64       `lab:"pmax" range:"(0, 1]" doc:"probabilistic form: probability of a mark at tmax, rising from zero at tmin"`
}

type tcn struct {
	curve ramp // over the sojourn time in nanoseconds
	rand  *rand.Rand
}

var _ Scheme = tcn{}

// newTCN computes the standard threshold T = RTT x lambda where the lab sets
// none (TCN, section 4.1).
func newTCN(p TCN, env Env) (Scheme, error) {
	if p.Lambda < 0 {
		return nil, kind.Invalid("lambda", "%v is negative", p.Lambda)
	}
	if p.Threshold < 0 {
		return nil, kind.Invalid("threshold", "%v is negative", p.Threshold)
	}
	curve := ramp{float64(p.TMin), float64(p.TMax), p.PMax}
	if err := curve.check("tmin", "tmax", p.given()); err != nil {
		return nil, err
	}
	if p.TMax > 0 {
		return tcn{curve, env.Rand}, nil
	}
	if p.Lambda == 0 {
		p.Lambda = 1
	}
	if p.Threshold == 0 {
		p.Threshold = time.Duration(whole(float64(env.RTT) * p.Lambda))
	}
	if p.Threshold == 0 {
		return nil, kind.Invalid("threshold", "missing, and the lab gives no base RTT to compute it from: want a time such as 250us")
	}
	return tcn{cutoff(float64(p.Threshold)), env.Rand}, nil
}

// given names the parameter of the plain form that the lab sets, if any.
func (p TCN) given() string {
	switch {
	case p.Threshold != 0:
		return "threshold"
	case p.Lambda != 0:
		return "lambda"
	}
	return ""
}

func (tcn) Arrive(time.Duration, *packet.Packet, View) Verdict { return Pass }

func (s tcn) Depart(_ time.Duration, _ *packet.Packet, v View) Verdict {
	if s.curve.marks(float64(v.Waited), s.rand) {
		return Mark
	}
	return Pass
}
