package aqm

import (
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// DualPI2 couples the queue controllers of two queues, so that scalable transports see a
// short queue and share the link with classic ones flow by flow (RFC 9332, appendix A). It
// goes with a scheduler that has the two: dualq sorts packets into them by their ECN field.
// Queue 0 is the low-latency one, L, and queue 1 the classic one, C, as is any other.
//
// The controller of [PI2] steers p' by the delay of the queue that waits longer, as in
// Linux's dualpi2. A packet that leaves C is marked or dropped with p' squared. One that
// leaves L is marked with k p' or with what the ramp of L says, whichever is more. The ramp
// goes by the packet's sojourn time, from min_th to min_th and range. It spares a packet that
// leaves no other behind, or fewer than th_len less one. With range zero it is a step.
//
// When k p' has reached 1, marks of L say no more. From there on packets of L are dropped
// with p' squared as well, and marked if not, and those of C are dropped only (appendix A.2).
// A burst is an overload by itself when it makes the queue longer by 1.6 times the longest RTT
// between two runs of the controller: with the gains of the RFC that takes p' from 0 to 1/2.
//
// A probability is carried out evenly: each packet of a queue adds it to a sum, and the one
// that takes the sum to 1 is acted on.
//
// The RFC's 800 us and 400 us of the ramp are for the Internet. By default min_th is 0.17 of
// the longest base RTT, the share that DCTCP needs (ECN#, section 2.1), and range is half of
// that, as in the RFC.
type DualPI2 struct {
	Target  time.Duration  `lab:"target" tune:"0.05rtt..2rtt" range:"0s..100h" doc:"queueing delay of C to hold; 0.15 of rtt when absent"`
	TUpdate time.Duration  `lab:"tupdate" tune:"0.05rtt..2rtt" range:"0s..100h" doc:"time between two runs of the controller; the lesser of target and rtt / 3 when absent"`
	RTT     Statistic      `lab:"rtt" what:"statistic" doc:"which of the lab's base RTTs absent parameters are computed from"`
	Alpha   float64        `lab:"alpha" range:"[0, 1000000]" doc:"probability for each second that the delay is off target; 0.1 x tupdate / rtt^2 when absent"`
	Beta    float64        `lab:"beta" range:"[0, 1000000]" doc:"probability for each second that the delay grew since the last run; 0.3 / rtt when absent"`
	K       float64        `lab:"k" range:"[1, 16]" doc:"coupling factor: a packet of L is marked k times as often as the square root of C's probability says"`
	MinTh   time.Duration  `lab:"min_th" tune:"0.01rtt..1rtt" range:"0s..100h" doc:"sojourn time in L up to which the ramp marks nothing; 0.17 of rtt when absent"`
	Range   *time.Duration `lab:"range" range:"0s..100h" doc:"length of the ramp, at whose end every packet is marked; half of min_th when absent, 0s for a step"`
	ThLen   int            `lab:"th_len" range:"0..1000000" doc:"packets in L, the departing one included, up to which the ramp marks nothing"`
}

type dualPI2 struct {
	control piControl
	k       float64
	ramp    ramp // over the sojourn time in L
	thLen   int
	state   piQueue          // delay is the longer of the two
	delays  [2]time.Duration // of L and C
	queues  []recurrences
}

// recurrences are the sums of probabilities of a queue since it was last acted on.
type recurrences struct {
	act  float64
	drop float64 // of L in overload
}

// What the queues of [DualPI2] are.
const (
	lowLatency = iota
	classic
)

var _ Scheme = (*dualPI2)(nil)

func newDualPI2(p DualPI2, env Env) (Scheme, error) {
	if env.Queues <= classic {
		return nil, kind.Invalid("k", "the scheduler has one queue, and nothing is coupled: want scheduler dualq, or another with a queue for each")
	}
	control, err := newPIControl(piParams{p.Target, p.TUpdate, p.RTT, p.Alpha, p.Beta}, 1, env)
	if err != nil {
		return nil, err
	}
	if p.MinTh == 0 {
		p.MinTh = env.Time("min_th", 0.17, p.RTT)
	}
	if p.MinTh == 0 {
		return nil, kind.Invalid("min_th", "missing, and the lab gives no base RTT (rtt) to compute it from: want a time such as 40us")
	}
	length := p.MinTh / 2
	if p.Range != nil {
		length = *p.Range
	} else {
		env.tell("range", units.FormatTime(length), "min_th / 2")
	}
	return &dualPI2{
		control: control, k: p.K,
		ramp: ramp{float64(p.MinTh), float64(p.MinTh + length), 1}, thLen: p.ThLen,
		queues: make([]recurrences, env.Queues),
	}, nil
}

func (s *dualPI2) Arrive(time.Duration, *packet.Packet, View) Verdict { return Pass }

func (s *dualPI2) Depart(now time.Duration, _ *packet.Packet, v View) Verdict {
	s.control.catchUp(&s.state, now)
	s.waited(v)
	q, prob := &s.queues[v.Queue], s.state.prob
	overload := s.k*prob >= 1
	if v.Queue != lowLatency {
		return s.ofClassic(q, overload)
	}
	if overload && recurs(&q.drop, float64(prob*prob)) {
		return Drop
	}
	native := 0.0
	if v.Packets >= s.thLen {
		native = s.ramp.probability(float64(v.Waited))
	}
	if recurs(&q.act, min(max(native, s.k*prob), 1)) {
		return Mark
	}
	return Pass
}

// waited notes how long a packet did.
func (s *dualPI2) waited(v View) {
	d := &s.delays[min(v.Queue, classic)]
	*d = v.Waited
	if v.Packets == 0 {
		*d = 0
	}
	s.state.delay = max(s.delays[lowLatency], s.delays[classic])
}

// ofClassic decides about a packet of C.
func (s *dualPI2) ofClassic(q *recurrences, overload bool) Verdict {
	switch {
	case !recurs(&q.act, float64(s.state.prob*s.state.prob)):
		return Pass
	case overload:
		return Drop
	}
	return MarkOrDrop
}

// recurs adds a probability to a sum, and tells whether that makes one more.
func recurs(sum *float64, prob float64) bool {
	if *sum += prob; *sum < 1 {
		return false
	}
	*sum--
	return true
}
