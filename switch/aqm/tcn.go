package aqm

import (
	"math/rand/v2"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// TCN marks a departing packet when its sojourn time is larger than a
// threshold, the same for all queues and schedulers (TCN, CoNEXT 2016, section
// 4.1). It keeps no state, and it never drops.
//
// The standard threshold is that of a queue length over the rate, and so it is of
// the same base RTT as that of DCTCP-RED. The paper has a single base RTT.
//
// With tmax set it is the probabilistic form (TCN, section 4.3). The paper does
// not print the curve between the two times; it is linear, as RED's.
//
// With stamp set the sojourn time is what a chip measures with time stamps of few
// bits (TCN, section 4.2): the difference of two readings of a clock that counts in
// steps of that length and starts anew at its end. Two bytes reach 262 us at 4 ns
// and 524 us at 8 ns. Of a longer sojourn time only what is beyond remains.
type TCN struct {
	Threshold time.Duration `lab:"threshold" tune:"0.1rtt..4rtt" doc:"sojourn time above which a packet is marked; without it, rtt times lambda"`
	RTT       Statistic     `lab:"rtt" what:"statistic" doc:"which of the lab's base RTTs the threshold is computed from"`
	Lambda    float64       `lab:"lambda" doc:"share of the base RTT that the transport needs as standing queue; 1 when absent"`
	TMin      time.Duration `lab:"tmin" range:"0s..100h" doc:"probabilistic form: sojourn time up to which no packet is marked"`
	TMax      time.Duration `lab:"tmax" range:"0s..100h" doc:"probabilistic form: sojourn time above which every packet is marked; excludes threshold and lambda"`
	PMax      float64       `lab:"pmax" range:"(0, 1]" doc:"probabilistic form: probability of a mark at tmax, rising from zero at tmin"`

	Stamp     time.Duration `lab:"stamp" range:"0s..1s" doc:"resolution of the time stamps of packets; exact when absent"`
	StampBits int           `lab:"stamp_bits" range:"1..32" doc:"bits of a time stamp, which starts anew at their end; needs stamp"`
}

type tcn struct {
	curve ramp // over the sojourn time in nanoseconds
	clock stampClock
	rand  *rand.Rand
}

// stampBits are those of the two-byte stamps of TCN, section 4.2.
const stampBits = 16

// stampClock is the clock of a chip that stamps packets.
type stampClock struct {
	step time.Duration // zero: an exact clock
	mask time.Duration // largest reading
}

// between is the time that the clock measures between two instants.
func (c stampClock) between(from, to time.Duration) time.Duration {
	if c.step == 0 {
		return to - from
	}
	return (to/c.step - from/c.step) & c.mask * c.step
}

// longest is the longest time that the clock can measure.
func (c stampClock) longest() time.Duration { return c.mask * c.step }

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
	clock := stampClock{p.Stamp, 1<<p.StampBits - 1}
	if p.Stamp == 0 && p.StampBits != stampBits {
		return nil, kind.Invalid("stamp", "missing: stamp_bits needs it")
	}
	if p.TMax > 0 {
		return tcn{curve, clock, env.Rand}, clock.measures("tmax", p.TMax)
	}
	if p.Lambda == 0 {
		p.Lambda = 1
	}
	if p.Threshold == 0 {
		p.Threshold = env.Time("threshold", p.Lambda, p.RTT)
	}
	if p.Threshold == 0 {
		return nil, kind.Invalid("threshold", "missing, and the lab gives no base RTT to compute it from: want a time such as 250us")
	}
	return tcn{cutoff(float64(p.Threshold)), clock, env.Rand}, clock.measures("threshold", p.Threshold)
}

// measures tells whether the clock can read more than the time of a parameter.
func (c stampClock) measures(param string, t time.Duration) error {
	if c.step > 0 && t >= c.longest() {
		return kind.Invalid(param, "%s is not below %s, the longest time that stamps can tell: nothing would ever be marked", units.FormatTime(t), units.FormatTime(c.longest()))
	}
	return nil
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

func (s tcn) Depart(now time.Duration, _ *packet.Packet, v View) Verdict {
	if s.curve.marks(float64(s.clock.between(now-v.Waited, now)), s.rand) {
		return Mark
	}
	return Pass
}
