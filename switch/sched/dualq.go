package sched

import (
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
)

// DualQ are the two queues of a coupled AQM (RFC 9332, section 2.4): a low-latency one, L,
// for packets of scalable transports, and a classic one, C, for all others. They are the
// queues 0 and 1 that the scheme of the port is asked about, whatever a packet's class.
//
// L goes first unless C is owed something. With order wrr, C gets a share of the link while
// both have packets: Linux's dualpi2 gives it 10 %. With order shifted it is the packet that
// has waited longest, as if those of L had come earlier by the shift (time-shifted FIFO).
type DualQ struct {
	Low     string        `lab:"low" oneof:"ect,ect1" what:"choice" doc:"which packets join L: ect (all that are ECN-capable, as where hosts speak DCTCP) or ect1 (ECT(1) and CE, RFC 9331)"`
	Order   string        `lab:"order" oneof:"wrr,shifted" what:"choice" doc:"wrr (C has a share of the link) or shifted (the packet that has waited longest, those of L by shift more)"`
	Classic float64       `lab:"classic" range:"[0.001, 0.999]" doc:"of wrr: share of the link that C gets while both queues have packets"`
	Shift   time.Duration `lab:"shift" range:"0s..100h" doc:"of shifted: what packets of L are taken to have waited longer, such as twice the target of C"`
}

// The values of DualQ's choices.
const (
	lowECT       = "ect"
	lowECT1      = "ect1"
	orderWRR     = "wrr"
	orderShifted = "shifted"
)

// The queues of a [DualQ].
const (
	lowLatency = iota
	classic
	dualQueues // how many
)

type dualQ struct {
	classes classes
	ect1    bool
	shifted bool
	shift   time.Duration
	share   int64 // of C, in millionths
	owed    int64 // to C, in millionths of a byte
	lengths packet.Lengths
	queues  [dualQueues]packet.Queue
	taken   int
}

var (
	_ Scheduler  = (*dualQ)(nil)
	_ Sorter     = (*dualQ)(nil)
	_ Classifier = (*dualQ)(nil)
)

// whole is all of the link in the unit of a share.
const whole = 1_000_000

// defaultClassic is the share of C in Linux's dualpi2.
const defaultClassic = 0.1

func newDualQ(p DualQ, env Env) (Scheduler, error) {
	shifted := p.Order == orderShifted
	switch {
	case shifted && p.Shift == 0:
		return nil, kind.Invalid("shift", "missing: want a time such as 100us")
	case !shifted && p.Shift > 0:
		return nil, kind.Invalid("shift", "order %s has none: want order %s", p.Order, orderShifted)
	case shifted && p.Classic != defaultClassic:
		return nil, kind.Invalid("classic", "order %s has no share: want order %s", p.Order, orderWRR)
	}
	s := &dualQ{classes: env.classes(), ect1: p.Low == lowECT1, shifted: shifted, shift: p.Shift, share: int64(p.Classic * whole), lengths: env.Lengths}
	for q := range s.queues {
		s.queues[q] = packet.NewQueue(env.Lengths)
	}
	return s, nil
}

// Queues are L and C.
func (s *dualQ) Queues() int { return dualQueues }

// Queue goes by the ECN field with which a packet arrives.
func (s *dualQ) Queue(k *packet.Packet) int {
	low := k.ECN.Capable()
	if s.ect1 {
		low = k.ECN == packet.ECT1 || k.ECN == packet.CE
	}
	if low {
		return lowLatency
	}
	return classic
}

// Taken is the queue that was served last.
func (s *dualQ) Taken() int { return s.taken }

// Length is that of L or C.
func (s *dualQ) Length(q int) (packets, bytes int) { return s.queues[q].Len(), s.queues[q].Bytes() }

func (s *dualQ) Hold(_ time.Duration, q int, k *packet.Packet) { s.queues[q].Push(k) }

func (s *dualQ) Head() *packet.Packet { return s.queues[s.turn()].Head() }

// turn is the queue that goes next, if any has packets.
func (s *dualQ) turn() int {
	l, c := s.queues[lowLatency].Head(), s.queues[classic].Head()
	switch {
	case c == nil:
		return lowLatency
	case l == nil:
		return classic
	case s.shifted && l.Enqueued-s.shift > c.Enqueued:
		return classic
	case !s.shifted && s.owed > 0:
		return classic
	}
	return lowLatency
}

func (s *dualQ) Take(time.Duration) *packet.Packet {
	s.taken = s.turn()
	k := s.queues[s.taken].Pop()
	if k == nil {
		return nil
	}
	length := int64(s.lengths.Of(int(k.Size)))
	switch {
	case s.queues[lowLatency].Len() == 0 || s.queues[classic].Len() == 0:
		s.owed = 0 // the link was not shared, or is no longer
	case s.taken == lowLatency:
		s.owed += length * s.share
	default:
		s.owed -= length * (whole - s.share)
	}
	return k
}

func (s *dualQ) Next(time.Duration) (int, bool) {
	k := s.Head()
	if k == nil {
		return 0, false
	}
	return s.classes.of(k), true
}

// Enqueued and Sent are not called for a [Sorter].
func (s *dualQ) Enqueued(time.Duration, int, int) {}

// Sent is not called either.
func (s *dualQ) Sent(time.Duration, int, int) {}
