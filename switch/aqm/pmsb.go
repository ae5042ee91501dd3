package aqm

import (
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// PMSB is per-port marking with selective blindness (Pan et al., Support ECN in
// Multi-Queue Datacenter Networks via per-Port Marking with Selective Blindness, ICDCS
// 2018). A packet is marked when the port holds more than a threshold, but only if its
// own queue holds more than its share of it. So the latency is that of one threshold for
// the port, and a queue that is not to blame is not marked for others.
//
// The threshold of the port is by default rate x rtt x lambda, and a queue's share of it
// goes by weight. A queue that is served strictly has no share: what counts is the
// threshold of the port.
type PMSB struct {
	Threshold  Threshold  `lab:"threshold" tune:"0.1bdp..4bdp" doc:"bytes in the port above which packets are marked: a size, or standard (rate x rtt x lambda)"`
	BlindBelow units.Size `lab:"blind_below" tune:"0.01bdp..1bdp" range:"0B..1000GB" doc:"bytes in its queue up to which no packet is marked; the queue's share of threshold, by weight, when absent"`
	RTT        Statistic  `lab:"rtt" what:"statistic" doc:"which of the lab's base RTTs standard is computed from"`
	Lambda     float64    `lab:"lambda" range:"(0, 1000]" doc:"share of the bandwidth-delay product that the transport needs as standing queue"`
}

type pmsb struct {
	port   int
	queues []int
}

var _ Scheme = (*pmsb)(nil)

func newPMSB(p PMSB, env Env) (Scheme, error) {
	threshold := float64(p.Threshold.Size)
	switch p.Threshold {
	case Minimum:
		return nil, kind.Invalid("threshold", "minimum is one queue's share: want standard or a size such as 32KB")
	case Standard:
		if threshold = env.Length("threshold", p.Lambda, p.RTT); threshold == 0 {
			return nil, kind.Invalid("threshold", "standard needs the lab's base RTT (rtt): set one, or give a size such as 32KB")
		}
	default:
		if p.Lambda != 1 {
			return nil, kind.Invalid("lambda", "threshold is a size: want one of the two")
		}
	}
	s := &pmsb{whole(threshold), make([]int, env.Queues)}
	for q := range s.queues {
		s.queues[q] = int(p.BlindBelow)
		if p.BlindBelow == 0 {
			s.queues[q] = env.share(threshold, q, "blind_below", "threshold")
		}
	}
	return s, nil
}

func (s *pmsb) Arrive(_ time.Duration, _ *packet.Packet, v View) Verdict {
	if v.PortBytes > s.port && v.Bytes > s.queues[v.Queue] {
		return Mark
	}
	return Pass
}

func (s *pmsb) Depart(time.Duration, *packet.Packet, View) Verdict { return Pass }
