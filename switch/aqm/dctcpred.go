package aqm

import (
	"math"
	"math/rand/v2"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// DCTCPRED is RED cut down to one threshold on the instantaneous queue length,
// as DCTCP uses it: a packet is marked when more bytes than the threshold wait
// (TCN, section 2.1; ECN#, section 2.1). Which bytes, the scope says: those of
// its own queue, of the port, or of the service pool (MQ-ECN, section 2.1). At
// dequeue they are the ones that the departing packet leaves behind (TCN,
// section 4.3).
//
// With kmax set it is the linear form: the congestion point of DCQCN (Zhu et al.,
// SIGCOMM 2015, section 3.1), which is RED on that length with nothing averaged.
//
// Where base RTTs vary, the standard threshold is that of their 90th percentile,
// as is current practice (ECN#, sections 2.3 and 5.1: DCTCP-RED-Tail). With rtt:
// mean it is that of DCTCP-RED-AVG.
type DCTCPRED struct {
	Threshold Threshold `lab:"threshold" tune:"0.1bdp..4bdp" doc:"a size, or standard (rate x rtt x lambda), or minimum (standard x the queue's weight share)"`
	RTT       Statistic `lab:"rtt" what:"statistic" doc:"which of the lab's base RTTs standard and minimum are computed from"`
	Lambda    float64   `lab:"lambda" range:"(0, 1000]" doc:"share of the bandwidth-delay product that the transport needs as standing queue"`
	Scope     string    `lab:"scope" oneof:"queue,port,pool" what:"choice" doc:"whose bytes are compared: queue, port (all its queues) or pool (all ports that share the buffer)"`
	At        string    `lab:"at" oneof:"enqueue,dequeue" what:"choice" doc:"when: enqueue (the arriving packet not counted) or dequeue (the departing packet not counted)"`

	// CountArriving is for comparisons with the authors' code, kernel modules and
	// simulators alike: against a minimum of two packets, one more is much.
	CountArriving bool `lab:"count_arriving" doc:"at enqueue: count the arriving packet too, as the authors' code does; without, a threshold of two packets marks what finds three"`

	KMin units.Size `lab:"kmin" range:"0B..1000GB" doc:"linear form: length up to which no packet is marked"`
	KMax units.Size `lab:"kmax" range:"0B..1000GB" doc:"linear form: length above which every packet is marked; excludes threshold and lambda"`
	PMax float64    `lab:"pmax" range:"(0, 1]" doc:"linear form: probability of a mark at kmax, rising from zero at kmin"`
}

// The values of DCTCPRED's choices.
const (
	scopeQueue = "queue"
	scopePort  = "port"
	scopePool  = "pool"
	atEnqueue  = "enqueue"
	atDequeue  = "dequeue"
)

type dctcpRED struct {
	curves    []ramp // over the length in bytes, of each queue
	rand      *rand.Rand
	scope     string
	atDequeue bool
	arriving  bool // counts
	lengths   packet.Lengths
}

var _ Scheme = (*dctcpRED)(nil)

func newDCTCPRED(p DCTCPRED, env Env) (Scheme, error) {
	linear := ramp{float64(p.KMin), float64(p.KMax), p.PMax}
	if err := linear.check("kmin", "kmax", p.given()); err != nil {
		return nil, err
	}
	standard := 0.0
	switch {
	case p.KMax > 0 || p.Threshold.Rule == "":
	case p.Threshold == Minimum:
		standard = env.Length("standard threshold", p.Lambda, p.RTT)
	default:
		standard = env.Length("threshold", p.Lambda, p.RTT)
	}
	if err := p.validate(standard); err != nil {
		return nil, err
	}
	s := &dctcpRED{make([]ramp, env.Queues), env.Rand, p.Scope, p.At == atDequeue, p.CountArriving, env.Lengths}
	for q := range s.curves {
		k := whole(standard)
		switch {
		case p.KMax > 0:
			s.curves[q] = linear
			continue
		case p.Threshold.Rule == "":
			k = int(p.Threshold.Size)
		case p.Threshold == Minimum:
			k = env.share(standard, q, "threshold", "the standard threshold")
		}
		s.curves[q] = cutoff(float64(k))
	}
	return s, nil
}

// given names the parameter of the plain form that the lab sets, if any.
func (p DCTCPRED) given() string {
	switch {
	case p.Threshold != Standard:
		return "threshold"
	case p.Lambda != 1:
		return "lambda"
	}
	return ""
}

func (p DCTCPRED) validate(standard float64) error {
	switch {
	case p.CountArriving && p.At == atDequeue:
		return kind.Invalid("count_arriving", "no packet arrives at dequeue: want at enqueue")
	case p.Threshold == Minimum && p.Scope != scopeQueue:
		return kind.Invalid("threshold", "minimum is one queue's share: want scope queue, or standard or a size for scope %s", p.Scope)
	case p.Threshold.Rule != "" && p.KMax == 0 && standard == 0:
		return kind.Invalid("threshold", "%s needs the lab's base RTT (rtt): set one, or give a size such as 32KB", p.Threshold)
	}
	return nil
}

func (s *dctcpRED) Arrive(_ time.Duration, p *packet.Packet, v View) Verdict {
	switch {
	case s.atDequeue:
		return Pass
	case s.arriving:
		return s.compare(&v, s.lengths.Of(int(p.Size)))
	}
	return s.compare(&v, 0)
}

func (s *dctcpRED) Depart(_ time.Duration, _ *packet.Packet, v View) Verdict {
	if !s.atDequeue {
		return Pass
	}
	return s.compare(&v, 0)
}

// Foresee is what there is to it with a plain threshold at enqueue. Whose bytes are compared
// is the same then.
func (s *dctcpRED) Foresee() (Cutoff, bool) {
	r := s.curves[0]
	return Cutoff{int(r.lo), s.arriving}, !s.atDequeue && r == cutoff(math.Trunc(r.lo))
}

// compare decides about a packet with that many bytes more than in the view.
func (s *dctcpRED) compare(v *View, more int) Verdict {
	length := v.Bytes
	switch s.scope {
	case scopePort:
		length = v.PortBytes
	case scopePool:
		length = v.PoolBytes
	}
	if s.curves[v.Queue].marks(float64(length+more), s.rand) {
		return Mark
	}
	return Pass
}
