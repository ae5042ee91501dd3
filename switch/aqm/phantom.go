package aqm

import (
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// Phantom marks a departing packet by the length of a queue that does not exist: what
// leaves the port joins it, and a link that is slower than the port's drains it (HULL,
// Alizadeh et al., Less Is More, NSDI 2012, section 3.1). So it marks before a real queue
// builds up, and gives up the rest of the link's rate for that. It is one for the whole
// port, as it stands behind the port's queues, and it never drops.
//
// The paper has 95 % of the rate, and a threshold of 6 KB at 1 Gbps and 15 KB at
// 10 Gbps. The phantom queue counts a packet as it is on the wire, since only so a
// saturated port is seen to exceed the slower link.
type Phantom struct {
	Threshold units.Size `lab:"threshold" tune:"0.01bdp..1bdp" range:"0B..1000GB" doc:"bytes in the phantom queue above which a packet is marked"`
	Drain     float64    `lab:"drain" tune:"0.5..1" range:"(0, 1]" doc:"rate of the phantom link as a share of the port's (gamma)"`
}

type phantom struct {
	rate  units.Rate    // of the phantom link
	limit time.Duration // in which it drains the threshold
	empty time.Duration // when it will have drained all that has joined
}

var _ Scheme = (*phantom)(nil)

func newPhantom(p Phantom, env Env) (Scheme, error) {
	rate := units.Rate(p.Drain * float64(env.Rate))
	if rate < 1 {
		return nil, kind.Invalid("drain", "%v of %v is no rate", p.Drain, env.Rate)
	}
	return &phantom{rate: rate, limit: rate.Time(int(p.Threshold))}, nil
}

func (s *phantom) Arrive(time.Duration, *packet.Packet, View) Verdict { return Pass }

func (s *phantom) Depart(now time.Duration, k *packet.Packet, _ View) Verdict {
	s.empty = max(s.empty, now) + s.rate.Time(packet.OnWire(int(k.Size)))
	if s.empty-now > s.limit {
		return Mark
	}
	return Pass
}
