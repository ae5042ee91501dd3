package aqm

import (
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// DCTCPRED is RED cut down to one threshold on the instantaneous queue length,
// as DCTCP uses it: an arriving packet is marked when the queue holds more
// than the threshold (TCN, section 2.1; ECN#, section 2.1). Each queue is
// compared on its own.
type DCTCPRED struct {
	Threshold Threshold `lab:"threshold" doc:"a size, or standard (rate x base RTT x lambda), or minimum (standard x the queue's weight share)"`
	Lambda    float64   `lab:"lambda" doc:"share of the bandwidth-delay product that the transport needs as standing queue"`
}

// Threshold is a queue length, or the rule that gives it.
type Threshold struct {
	Size units.Size
	Rule string // "standard", "minimum", or empty when Size counts
}

// The threshold rules.
var (
	// Standard is K = C x RTT x lambda for every queue (MQ-ECN, section 2.2.1).
	Standard = Threshold{Rule: "standard"}
	// Minimum is the queue's weighted share of the standard threshold (MQ-ECN,
	// section 2.2.2).
	Minimum = Threshold{Rule: "minimum"}
)

// UnmarshalText reads a size or the name of a rule.
func (t *Threshold) UnmarshalText(b []byte) error {
	switch s := string(b); s {
	case Standard.Rule, Minimum.Rule:
		*t = Threshold{Rule: s}
		return nil
	default:
		size, err := units.ParseSize(s)
		if err != nil {
			return kind.Invalid("", "%q is neither standard, minimum, nor a size such as 32KB", s)
		}
		*t = Threshold{Size: size}
		return nil
	}
}

// String prints the threshold as a lab would write it.
func (t Threshold) String() string {
	if t.Rule != "" {
		return t.Rule
	}
	return t.Size.String()
}

type dctcpRED struct{ thresholds []int }

var _ Scheme = (*dctcpRED)(nil)

func newDCTCPRED(p DCTCPRED, env Env) (Scheme, error) {
	if p.Lambda <= 0 {
		return nil, kind.Invalid("lambda", "%v is not above zero", p.Lambda)
	}
	standard := float64(env.Rate) / 8 * env.RTT.Seconds() * p.Lambda
	if p.Threshold.Rule != "" && standard == 0 {
		return nil, kind.Invalid("threshold", "%s needs the lab's base RTT (rtt): set one, or give a size such as 32KB", p.Threshold)
	}
	sum := 0
	for _, w := range env.Weights {
		sum += w
	}
	s := &dctcpRED{make([]int, env.Queues)}
	for q := range s.thresholds {
		switch p.Threshold.Rule {
		case Standard.Rule:
			s.thresholds[q] = int(standard)
		case Minimum.Rule:
			s.thresholds[q] = int(standard * float64(env.Weights[q]) / float64(sum))
		default:
			s.thresholds[q] = int(p.Threshold.Size)
		}
	}
	return s, nil
}

func (s *dctcpRED) Arrive(_ time.Duration, _ *packet.Packet, v View) Verdict {
	if v.Bytes > s.thresholds[v.Queue] {
		return Mark
	}
	return Pass
}

func (s *dctcpRED) Depart(time.Duration, *packet.Packet, View) Verdict { return Pass }
