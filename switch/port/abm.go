package port

import (
	"slices"
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// ABM is active buffer management (Addanki et al., ABM: Active Buffer Management in
// Datacenters, SIGCOMM 2022). As under [DynamicSharing] a queue may grow while it is below
// alpha times the free bytes of the pool. But here this limit is divided by n, the number of
// congested queues that have its number at the ports of the switch. It is multiplied by the
// share of its link with which the queue drains. So what queues of one number take together
// is bounded, whatever becomes of the others, and so is the time that a queue takes to drain.
//
// A queue is congested from a share of its limit on. The limit is the one at its last
// arrival, as the limit itself depends on n. There is at least one.
//
// The share of the link is that by weight among the queues of the port that hold packets,
// and itself. That is exact under a scheduler that shares by weight. A strict queue has all
// of the link. The paper's simulator measures it, and takes all of the link for any queue
// that got less than an equal share.
//
// In the paper hosts tag the packets that they send in the first RTT, and these have a
// greater alpha (64, the others 0.5), so that a burst finds room. Here they are the first
// bytes of each message. That is what its sender may send before anything comes back, so an
// initial window. Packets without payload count among them.
type ABM struct {
	Alpha            float64    `lab:"alpha" range:"(0, 1000]" doc:"a queue's limit over the free bytes of the pool, when it is the only congested one of its number and has its link to itself"`
	Alphas           []float64  `lab:"alphas" range:"(0, 1000]" doc:"the same for each queue, one a queue; alpha for all when absent"`
	Congested        float64    `lab:"congested" range:"(0, 1]" doc:"share of its limit from which on a queue is congested"`
	Unscheduled      units.Size `lab:"unscheduled" range:"0B..1GB" doc:"first bytes of a message that have an alpha of their own; for modelled hosts, 0B is off"`
	UnscheduledAlpha float64    `lab:"unscheduled_alpha" range:"(0, 1000000]" doc:"alpha of those bytes"`
}

// abmLimit is that of the queues of one port.
type abmLimit struct {
	ABM
	SharingEnv
	alphas []float64 // of queues
	limits []float64 // of queues at their last arrival, bytes
}

func newABM(p ABM, env SharingEnv) (Sharing, error) {
	alphas := p.Alphas
	switch len(alphas) {
	case 0:
		alphas = slices.Repeat([]float64{p.Alpha}, env.Queues)
	case env.Queues:
	default:
		return Sharing{}, kind.Invalid("alphas", "%d alphas for %d queues", len(alphas), env.Queues)
	}
	return Sharing{
		Pooled:   true,
		Modelled: p.Unscheduled > 0,
		Limit:    &abmLimit{p, env, alphas, make([]float64, env.Queues)},
	}, nil
}

func (l *abmLimit) Admits(_ time.Duration, a Arrival) bool {
	free := float64(l.Pool.size - l.Pool.bytes)
	bound := free / float64(l.congested(a.Queue)) * l.drain(a.Queue)
	l.limits[a.Queue] = l.alphas[a.Queue] * bound
	if units.Size(a.Packet.Segment.Before) < l.Unscheduled {
		return float64(a.Bytes) < l.UnscheduledAlpha*bound
	}
	return float64(a.Bytes) < l.limits[a.Queue]
}

// congested is how many queues of that number are, at all ports, and at least one.
func (l *abmLimit) congested(q int) int {
	n := 0
	for _, other := range l.Pool.limits {
		if o, ok := other.(*abmLimit); ok && q < len(o.limits) && o.crowded(q) {
			n++
		}
	}
	return max(n, 1)
}

// crowded tells whether a queue is congested.
func (l *abmLimit) crowded(q int) bool {
	bytes := l.Holds(q)
	return bytes > 0 && float64(bytes) >= l.Congested*l.limits[q]
}

// drain is the share of the link with which a queue drains, were it not empty.
func (l *abmLimit) drain(q int) float64 {
	own := l.Weights[q]
	if own == 0 {
		return 1
	}
	total := own
	for i, weight := range l.Weights {
		if i != q && l.Holds(i) > 0 {
			total += weight
		}
	}
	return float64(own) / float64(total)
}
