package aqm

import (
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
)

// TCN marks a departing packet when its sojourn time is larger than a
// threshold, the same for all queues and schedulers (TCN, CoNEXT 2016, section
// 4.1). It keeps no state, and it never drops.
type TCN struct {
	Threshold time.Duration `lab:"threshold" doc:"sojourn time above which a packet is marked; without it, base RTT times lambda"`
	Lambda    float64       `lab:"lambda" doc:"share of the base RTT that the transport needs as standing queue; 1 when absent"`
}

type tcn struct{ threshold time.Duration }

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
	if p.Lambda == 0 {
		p.Lambda = 1
	}
	if p.Threshold == 0 {
		p.Threshold = time.Duration(float64(env.RTT) * p.Lambda)
	}
	if p.Threshold == 0 {
		return nil, kind.Invalid("threshold", "missing, and the lab gives no base RTT to compute it from: want a time such as 250us")
	}
	return tcn{p.Threshold}, nil
}

func (tcn) Arrive(time.Duration, *packet.Packet, View) Verdict { return Pass }

func (s tcn) Depart(_ time.Duration, _ *packet.Packet, v View) Verdict {
	if v.Waited > s.threshold {
		return Mark
	}
	return Pass
}
