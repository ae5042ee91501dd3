package rdma

import (
	"time"

	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

// reaction is the reaction point of one flow: the rate that its sender holds to
// (DCQCN paper, section 3.1, "RP Algorithm", and figure 7). It is handed every
// event and owns no timer.
//
// A notification cuts the rate and starts the increase anew. The increase goes
// in rounds, which end by a timer or after a number of bytes, whichever counter
// they are of: while neither has reached F the rate only returns to where it was
// (fast recovery); when one has, the target grows too (additive increase); when
// both are beyond F it grows faster (hyper increase).
type reaction struct {
	p      *transport.DCQCN
	line   units.Rate
	rate   units.Rate    // current rate, Rc
	target units.Rate    // Rt
	alpha  float64       // estimate of congestion
	cut    time.Duration // when alpha last grew, its decay since then not applied; below zero: never
	timed  int           // rounds that the timer ended since the cut
	filled int           // rounds that the byte counter ended since the cut
	bytes  int64         // sent in the byte counter's round under way
}

// start is the state before the first notification: line rate, alpha one.
func start(p *transport.DCQCN, line units.Rate) reaction {
	return reaction{p: p, line: line, rate: line, target: line, alpha: 1, cut: -1}
}

// limited tells whether the flow sends below line rate. Rounds count only then.
func (r *reaction) limited() bool { return r.rate < r.line }

// notified takes a congestion notification: cut the rate by alpha/2, then let
// alpha grow (equation 1). The decay of alpha (equation 2) is worked out only
// here, where alpha is used: once for each alpha timer since the last
// notification. Before the first one there is none.
func (r *reaction) notified(now time.Duration) {
	r.alpha = r.decayed(now)
	r.target = r.rate
	r.rate = max(r.p.MinRate, units.Rate(float64(r.rate)*(1-r.alpha/2)))
	r.alpha = float64((1-r.p.G)*r.alpha) + r.p.G // conversion: see decayed
	r.cut = now
	r.timed, r.filled, r.bytes = 0, 0, 0
}

// decayed is alpha with its decay applied: once for each alpha timer since the last
// notification. Beyond 2^16 times nothing is left of it for any g that is of use.
func (r *reaction) decayed(now time.Duration) float64 {
	keep, alpha := 1-r.p.G, r.alpha
	if r.cut < 0 {
		return alpha
	}
	// The conversions keep a machine from fusing the two operations, which would
	// round otherwise than on one that cannot.
	for range min((now-r.cut)/r.p.AlphaTimer, 1<<16) {
		alpha = float64(keep * alpha)
	}
	return alpha
}

// ticked ends a round of the timer.
func (r *reaction) ticked() {
	phase := r.phase()
	r.timed++
	r.raise(phase)
}

// sent takes n bytes that were sent, and reports whether the rate changed for
// it.
func (r *reaction) sent(n int) (raised bool) {
	if !r.limited() {
		return false
	}
	r.bytes += int64(n)
	if r.bytes < int64(r.p.ByteCounter) {
		return false
	}
	r.bytes -= int64(r.p.ByteCounter)
	phase := r.phase()
	r.filled++
	r.raise(phase)
	return true
}

// phase is the step of the target for a round that ends now. The rounds before
// it count, so that F of them are fast recovery.
func (r *reaction) phase() units.Rate {
	switch f := r.p.FastRecovery; {
	case max(r.timed, r.filled) < f:
		return 0
	case min(r.timed, r.filled) > f:
		return r.p.RHAI
	default:
		return r.p.RAI
	}
}

// raise adds step to the target and moves the rate half-way to it (equations 3
// and 4). It rounds up, so that the rate arrives.
func (r *reaction) raise(step units.Rate) {
	r.target = min(r.target+step, r.line)
	r.rate = (r.rate + r.target + 1) / 2
}
