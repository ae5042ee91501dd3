package sched

import "aqmlab/switch/packet"

// packetRanks gives each packet a rank of its own.
type packetRanks interface {
	// of is the rank of a packet that arrives. It may be asked more than once.
	of(k *packet.Packet) uint64
	// joined tells that a packet was taken, with the rank that it has.
	joined(k *packet.Packet, rank uint64)
	// served tells that a packet of that rank leaves.
	served(rank uint64)
}

// newPacketRanks is one of these: the bytes that remain of the packet's message, those that
// came before it in its message, or its start time in fair queueing of so many flows.
func newPacketRanks(rank string, flows int, weights []int, env Env) packetRanks {
	switch rank {
	case rankSRPT:
		return remaining{}
	case rankLAS:
		return attained{}
	}
	h, room := newHashing(flows)
	return startTimes{stfqFlows{newSTFQ(weights, room), env.classes(), env.Lengths}, h}
}

// readsMessages tells whether ranks are what only packets of modelled hosts tell.
func readsMessages(r packetRanks) bool {
	_, computed := r.(startTimes)
	return !computed
}

// remaining is what pFabric ranks by (Alizadeh et al., SIGCOMM 2013). What carries nothing
// has nothing left, and goes first.
type remaining struct{}

func (remaining) of(k *packet.Packet) uint64    { return uint64(k.Segment.Left) }
func (remaining) joined(*packet.Packet, uint64) {}
func (remaining) served(uint64)                 {}

// attained is what the message has sent before, so that short ones go first whatever
// their length.
type attained struct{}

func (attained) of(k *packet.Packet) uint64    { return uint64(k.Segment.Before) }
func (attained) joined(*packet.Packet, uint64) {}
func (attained) served(uint64)                 {}

// startTimes are those of start-time fair queueing. Here a packet gets its own on arrival.
type startTimes struct {
	stfqFlows
	hashing
}

func (s startTimes) of(k *packet.Packet) uint64 { return s.begin(s.flowOf(k)) }

func (s startTimes) joined(k *packet.Packet, _ uint64) { s.start(s.flowOf(k), k) }
