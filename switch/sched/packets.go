package sched

import (
	"time"

	"aqmlab/switch/packet"
)

// packets is a [PIFO] that ranks packets, each by itself.
type packets struct {
	ranks   packetRanks
	classes classes
	order   ranking // its entries' q is a place in slots
	slots   []*packet.Packet
	free    []int  // slots without a packet
	seq     uint64 // of the next arrival
}

var (
	_ Scheduler = (*packets)(nil)
	_ Sorter    = (*packets)(nil)
	_ Evictor   = (*packets)(nil)
	_ ByMessage = (*packets)(nil)
)

func newPackets(r packetRanks, classes classes) *packets { return &packets{ranks: r, classes: classes} }

func (s *packets) Hold(_ time.Duration, _ int, k *packet.Packet) {
	rank := s.ranks.of(k)
	s.ranks.joined(k, rank)
	if len(s.free) == 0 {
		s.free = append(s.free, len(s.slots))
		s.slots = append(s.slots, nil)
	}
	end := len(s.free) - 1
	slot := s.free[end]
	s.free = s.free[:end]
	s.slots[slot] = k
	s.order.push(entry{rank, s.seq, slot})
	s.seq++
}

func (s *packets) Head() *packet.Packet {
	if len(s.order) == 0 {
		return nil
	}
	return s.slots[s.order[0].q]
}

func (s *packets) Take(time.Duration) *packet.Packet {
	if len(s.order) == 0 {
		return nil
	}
	e := s.order[0]
	s.ranks.served(e.rank)
	s.order.pop()
	return s.empty(e.q)
}

// Evict takes out the packet with the largest rank, of equal ones the one that came last.
func (s *packets) Evict(k *packet.Packet) *packet.Packet {
	if len(s.order) == 0 {
		return nil
	}
	at := s.order.last()
	e := s.order[at]
	if !precedes(s.ranks.of(k), e.rank) {
		return nil
	}
	s.order.cut(at)
	return s.empty(e.q)
}

// empty takes a packet out of its slot.
func (s *packets) empty(slot int) *packet.Packet {
	k := s.slots[slot]
	s.slots[slot] = nil
	s.free = append(s.free, slot)
	k.Next = nil
	return k
}

func (s *packets) Next(time.Duration) (int, bool) {
	k := s.Head()
	if k == nil {
		return 0, false
	}
	return s.classes.of(k), true
}

// ByMessage tells whether ranks are of messages.
func (s *packets) ByMessage() bool { return readsMessages(s.ranks) }

// Enqueued and Sent are not called for a [Sorter].
func (s *packets) Enqueued(time.Duration, int, int) {}

// Sent is not called either.
func (s *packets) Sent(time.Duration, int, int) {}
