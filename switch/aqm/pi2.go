package aqm

import (
	"fmt"
	"math/rand/v2"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// PI2 marks or drops arriving packets by a probability that a proportional-integral
// controller moves until the queueing delay meets target, without PIE's table of
// corrections (De Schepper et al., PI2: A Linearized AQM for both Classic and Scalable
// TCP, CoNEXT 2016). The controller is linear in p'. A scalable transport, whose rate
// falls as 1/p, is marked with k p'. A classic one, whose rate falls as 1/sqrt(p), is
// marked or dropped with p' squared, so that both are steered by the same p'.
//
// What the lab leaves out follows from RTT_max as in RFC 9332, appendix A.1. There it is
// 100 ms, and target is 15 ms. Here it is by default the longest base RTT, and target is
// in the same proportion to it.
//
// p' ends at 1/k, where every scalable packet is marked. From there on a longer queue is
// up to the buffer, and the classic probability stays at 1/k squared.
//
// A scheme has no timer: the controller runs at the next packet of the queue, once for
// every tupdate that has passed. The delay is the sojourn time of the last packet to
// leave, and zero once the queue is empty.
type PI2 struct {
	Target  time.Duration `lab:"target" tune:"0.05rtt..2rtt" range:"0s..100h" doc:"queueing delay to hold; 0.15 of rtt when absent"`
	TUpdate time.Duration `lab:"tupdate" tune:"0.05rtt..2rtt" range:"0s..100h" doc:"time between two runs of the controller; the lesser of target and rtt / 3 when absent"`
	RTT     Statistic     `lab:"rtt" what:"statistic" doc:"which of the lab's base RTTs absent parameters are computed from"`
	Alpha   float64       `lab:"alpha" range:"[0, 1000000]" doc:"probability for each second that the delay is off target; 0.1 x tupdate / rtt^2 when absent"`
	Beta    float64       `lab:"beta" range:"[0, 1000000]" doc:"probability for each second that the delay grew since the last run; 0.3 / rtt when absent"`

	K        float64 `lab:"k" range:"[1, 16]" doc:"coupling factor: a scalable packet is marked k times as often as the square root of the classic probability says"`
	Scalable string  `lab:"scalable" oneof:"ect,ect1,none" what:"choice" doc:"which packets are of scalable transports: ect (all that are ECN-capable, as where hosts speak DCTCP), ect1 (ECT(1) and CE, RFC 9331) or none"`
}

// The values of PI2's scalable.
const (
	scalableECT  = "ect"
	scalableECT1 = "ect1"
	scalableNone = "none"
)

type pi2 struct {
	control  piControl
	coupling coupling
	queues   []piQueue
}

var _ Scheme = (*pi2)(nil)

func newPI2(p PI2, env Env) (Scheme, error) {
	control, err := newPIControl(piParams{p.Target, p.TUpdate, p.RTT, p.Alpha, p.Beta}, 1/p.K, env)
	if err != nil {
		return nil, err
	}
	return &pi2{control, coupling{p.K, p.Scalable, env.Rand}, make([]piQueue, env.Queues)}, nil
}

func (s *pi2) Arrive(now time.Duration, k *packet.Packet, v View) Verdict {
	q := &s.queues[v.Queue]
	s.control.catchUp(q, now)
	return s.coupling.decide(q.prob, k.ECN)
}

func (s *pi2) Depart(now time.Duration, _ *packet.Packet, v View) Verdict {
	q := &s.queues[v.Queue]
	s.control.catchUp(q, now)
	q.delay = v.Waited
	if v.Packets == 0 {
		q.delay = 0
	}
	return Pass
}

// coupling turns p' into what happens to a packet (PI2, section 4).
type coupling struct {
	k        float64
	scalable string
	rand     *rand.Rand
}

// decide draws nothing while prob, which is p', is zero.
func (c coupling) decide(prob float64, ecn packet.ECN) Verdict {
	switch {
	case prob == 0:
	case c.isScalable(ecn):
		if c.rand.Float64() < c.k*prob {
			return Mark
		}
	case max(c.rand.Float64(), c.rand.Float64()) < prob: // the square
		return MarkOrDrop
	}
	return Pass
}

func (c coupling) isScalable(ecn packet.ECN) bool {
	switch c.scalable {
	case scalableECT:
		return ecn.Capable()
	case scalableECT1:
		return ecn == packet.ECT1 || ecn == packet.CE
	}
	return false
}

// piControl is the proportional-integral controller, which holds p' between zero and most.
type piControl struct {
	target, every time.Duration
	alpha, beta   float64
	most          float64
}

// piQueue is what the controller knows of a queue.
type piQueue struct {
	updated time.Duration // last run of the controller
	delay   time.Duration // now
	before  time.Duration // delay at that run
	prob    float64       // p'
}

// piParams are the parameters of a controller, as [PI2] has them.
type piParams struct {
	Target, TUpdate time.Duration
	RTT             Statistic
	Alpha, Beta     float64
}

// newPIControl fills in what the lab leaves out.
func newPIControl(p piParams, most float64, env Env) (piControl, error) {
	rtt := env.RTTs.Of(p.RTT).Seconds()
	if p.Target == 0 {
		p.Target = env.Time("target", 0.15, p.RTT)
	}
	if p.TUpdate == 0 {
		p.TUpdate = min(p.Target, env.RTTs.Of(p.RTT)/3)
		env.tell("tupdate", units.FormatTime(p.TUpdate), "the lesser of target and rtt / 3")
	}
	for _, t := range []struct {
		name  string
		value time.Duration
	}{{"target", p.Target}, {"tupdate", p.TUpdate}} {
		if t.value == 0 {
			return piControl{}, kind.Invalid(t.name, "missing, and the lab gives no base RTT (rtt) to compute it from: want a time such as 40us")
		}
	}
	if rtt == 0 && (p.Alpha == 0 || p.Beta == 0) {
		return piControl{}, kind.Invalid("alpha", "alpha or beta is missing, and the lab gives no base RTT (rtt) to compute it from: want numbers such as 0.16 and 3.2")
	}
	if p.Alpha == 0 {
		p.Alpha = 0.1 * p.TUpdate.Seconds() / (rtt * rtt)
		env.tell("alpha", fmt.Sprintf("%.4g", p.Alpha), "0.1 x tupdate / rtt^2")
	}
	if p.Beta == 0 {
		p.Beta = 0.3 / rtt
		env.tell("beta", fmt.Sprintf("%.4g", p.Beta), "0.3 / rtt")
	}
	return piControl{p.Target, p.TUpdate, p.Alpha, p.Beta, most}, nil
}

// catchUp runs the controller once for each period that ended by now. The delay was the
// same through all of them, so that after the first each adds as much as the next.
func (c piControl) catchUp(q *piQueue, now time.Duration) {
	periods := (now - q.updated) / c.every
	if periods == 0 {
		return
	}
	q.updated += periods * c.every
	step := c.alpha * (q.delay - c.target).Seconds()
	q.prob = c.within(q.prob + float64(step+c.beta*(q.delay-q.before).Seconds()))
	q.prob = c.within(q.prob + float64(float64(periods-1)*step))
	q.before = q.delay
}

func (c piControl) within(prob float64) float64 { return min(max(prob, 0), c.most) }
