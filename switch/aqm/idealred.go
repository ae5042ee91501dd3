package aqm

import (
	"fmt"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// IdealRED marks an arriving packet when its queue is longer than C_i x RTT x
// lambda, C_i being the rate at which that queue drains (TCN, section 3.1). The
// rates are told by an oracle, or estimated from departures (TCN, section 3.3,
// Algorithm 1), which starts from the line rate; the paper leaves that open.
type IdealRED struct {
	Estimator  string       `lab:"estimator" oneof:"departure-rate,oracle" what:"choice" doc:"where the drain rates come from: departure-rate (measured) or oracle (capacities)"`
	Capacities []units.Rate `lab:"capacities" range:"1bps..1000Tbps" doc:"drain rate of each queue, for the oracle; the same at ports of all rates"`
	Shares     []float64    `lab:"shares" range:"(0, 1]" doc:"drain rate of each queue over that of its port, for the oracle, in place of capacities"`
	RTT        Statistic    `lab:"rtt" what:"statistic" doc:"which of the lab's base RTTs the thresholds are computed from"`
	Lambda     float64      `lab:"lambda" tune:"0.1..4" range:"(0, 1000]" doc:"share of the bandwidth-delay product that the transport needs as standing queue"`
	DQThresh   units.Size   `lab:"dq_thresh" range:"1B..1000GB" doc:"bytes that a cycle of the departure-rate estimator counts, and that must wait for it to begin"`
	Weight     float64      `lab:"weight" range:"[0, 1)" doc:"weight of the old estimate in the average"`
	Timing     string       `lab:"timing" oneof:"covered,paper-literal" what:"choice" doc:"covered: a cycle's time covers all the packets that it counts; paper-literal: Algorithm 1 as printed, which counts one packet too many"`
}

// The values of IdealRED's choices.
const (
	estimatorDepartureRate = "departure-rate"
	estimatorOracle        = "oracle"
	timingCovered          = "covered"
)

type idealRED struct {
	IdealRED
	estimates
	queues   []drain
	measures bool // the rates
	lengths  packet.Lengths
	rtt      time.Duration
}

// drain is what is known of one queue.
type drain struct {
	departures
	rate      float64 // bits a second
	threshold int     // bytes
}

var (
	_ Scheme    = (*idealRED)(nil)
	_ Estimator = (*idealRED)(nil)
)

func newIdealRED(p IdealRED, env Env) (Scheme, error) {
	if err := p.validate(env); err != nil {
		return nil, err
	}
	s := &idealRED{IdealRED: p, queues: make([]drain, env.Queues), measures: p.Estimator == estimatorDepartureRate, lengths: env.Lengths, rtt: env.RTTs.Of(p.RTT)}
	if s.measures {
		env.Length("threshold", p.Lambda, p.RTT) // of a queue that has the link to itself
	}
	for q := range s.queues {
		rate := env.Rate
		if !s.measures {
			rate = p.capacity(q, env.Rate)
			Env{RTTs: env.RTTs, Tell: env.Tell, Rate: rate}.Length(fmt.Sprintf("threshold of queue %d", q), p.Lambda, p.RTT)
		}
		d := &s.queues[q]
		d.departures = departures{threshold: int(p.DQThresh), covered: p.Timing == timingCovered}
		s.set(d, float64(rate))
	}
	return s, nil
}

func (p IdealRED) validate(env Env) error {
	oracle := p.Estimator == estimatorOracle
	switch {
	case !oracle && len(p.Capacities) > 0:
		return kind.Invalid("capacities", "only the oracle takes them: want estimator oracle")
	case !oracle && len(p.Shares) > 0:
		return kind.Invalid("shares", "only the oracle takes them: want estimator oracle")
	case oracle && len(p.Capacities)+len(p.Shares) == 0:
		return kind.Invalid("capacities", "missing: the oracle needs them, or shares")
	case len(p.Capacities) > 0 && len(p.Shares) > 0:
		return kind.Invalid("shares", "capacities are set: want one of the two")
	case len(p.Capacities) > 0 && len(p.Capacities) != env.Queues:
		return kind.Invalid("capacities", "%d rates for %d queues", len(p.Capacities), env.Queues)
	case len(p.Shares) > 0 && len(p.Shares) != env.Queues:
		return kind.Invalid("shares", "%d for %d queues", len(p.Shares), env.Queues)
	case env.RTTs.Of(p.RTT) <= 0:
		return kind.Invalid("", "the thresholds need the lab's base RTT (rtt): set one")
	}
	for q, rate := range p.Capacities {
		if rate > env.Rate {
			return kind.Invalid("capacities", "%v of queue %d is more than a port of %v has: want less, or shares", rate, q, env.Rate)
		}
	}
	return nil
}

// capacity is what the oracle says of a queue of a port of that rate.
func (p IdealRED) capacity(queue int, port units.Rate) units.Rate {
	if len(p.Shares) > 0 {
		return units.Rate(p.Shares[queue] * float64(port))
	}
	return p.Capacities[queue]
}

func (s *idealRED) set(d *drain, rate float64) {
	d.rate = rate
	d.threshold = whole(standardThreshold(rate, s.rtt, s.Lambda))
}

func (s *idealRED) Arrive(_ time.Duration, _ *packet.Packet, v View) Verdict {
	if v.Bytes > s.queues[v.Queue].threshold {
		return Mark
	}
	return Pass
}

func (s *idealRED) Depart(now time.Duration, p *packet.Packet, v View) Verdict {
	if !s.measures {
		return Pass
	}
	d := &s.queues[v.Queue]
	if bytes, took, ended := d.leave(now, s.lengths.Of(int(p.Size)), v.Bytes); ended {
		s.set(d, s.Weight*d.rate+(1-s.Weight)*float64(bytes)*8/took.Seconds())
		if s.estimates != nil {
			s.tell(now, v.Queue, float64(bytes)*8/took.Seconds(), d.rate)
		}
	}
	return Pass
}
