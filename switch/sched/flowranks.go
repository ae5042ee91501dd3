package sched

import (
	"math"
	"time"

	"aqmlab/switch/packet"
)

// stfqFlows is start-time fair queueing of flows: a flow has the weight of its packet's
// class.
type stfqFlows struct {
	*stfq
	classes classes
	lengths packet.Lengths
}

func (s stfqFlows) start(i int, k *packet.Packet) uint64 {
	return s.stfq.start(i, s.classes.of(k), s.lengths.Of(int(k.Size)))
}

func (s stfqFlows) joined(_ time.Duration, i int, f *flow, k *packet.Packet) uint64 {
	if f.Len() > 1 {
		return f.rank
	}
	return s.start(i, k)
}

// left ranks the packet behind the one that leaves. Its flow was never without packets,
// so it starts where that one finishes, whatever came in between.
func (s stfqFlows) left(_ time.Duration, i int, f *flow, _ *packet.Packet) uint64 {
	s.served(f.rank)
	if f.Len() == 0 {
		return 0
	}
	return s.start(i, f.Head())
}

// las ranks flows by the service that they have attained, the least first: the bytes of
// the flow that the port has sent. It needs to know nothing of a flow, and prefers short
// ones (PIAS comes close to it with few priorities). What was silent for a gap is a new
// flow, as PIAS has it for messages.
type las struct {
	gap      time.Duration
	lengths  packet.Lengths
	attained []lasFlow
}

type lasFlow struct {
	bytes uint64
	seen  time.Duration // when a packet last left
}

func (s *las) joined(now time.Duration, i int, f *flow, _ *packet.Packet) uint64 {
	a := &s.attained[i]
	if f.Len() == 1 && now-a.seen > s.gap {
		a.bytes = 0
	}
	return a.bytes
}

func (s *las) left(now time.Duration, i int, _ *flow, k *packet.Packet) uint64 {
	a := &s.attained[i]
	a.bytes += uint64(s.lengths.Of(int(k.Size)))
	a.seen = now
	return a.bytes
}

// lstfFlows ranks by the time at which the slack of a flow's first packet runs out. With
// used, a packet has less by what it waited at earlier switches (Mittal et al., NSDI
// 2016, where it carries its slack).
type lstfFlows struct {
	slacks  []time.Duration
	used    bool
	classes classes
}

func (s lstfFlows) deadline(k *packet.Packet) uint64 {
	at := k.Enqueued + s.slacks[s.classes.of(k)]
	if s.used {
		at -= time.Duration(k.Spent)
	}
	return uint64(at)
}

func (s lstfFlows) joined(_ time.Duration, _ int, f *flow, k *packet.Packet) uint64 {
	if f.Len() > 1 {
		return f.rank
	}
	return s.deadline(k)
}

func (s lstfFlows) left(now time.Duration, _ int, f *flow, k *packet.Packet) uint64 {
	k.Spent = uint32(min(int64(k.Spent)+int64(now-k.Enqueued), math.MaxUint32))
	if f.Len() == 0 {
		return 0
	}
	return s.deadline(f.Head())
}

// srptFlows ranks by the remaining bytes of a flow, which its packets tell: the smallest
// that waits. What carries nothing has nothing left, and goes first.
type srptFlows struct{}

func (srptFlows) joined(_ time.Duration, _ int, f *flow, k *packet.Packet) uint64 {
	left := uint64(k.Segment.Left)
	if f.Len() > 1 {
		left = min(left, f.rank)
	}
	return left
}

func (srptFlows) left(_ time.Duration, _ int, f *flow, _ *packet.Packet) uint64 { return f.rank }
