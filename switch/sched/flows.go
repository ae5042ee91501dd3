package sched

import (
	"math/bits"
	"time"

	"aqmlab/switch/packet"
)

// flows is a [PIFO] that ranks flows: the packet leaves next that came first of the
// flow with the smallest rank, so that no flow is reordered. It tells flows apart by
// their hash, in a table of fixed size. Those that share an entry count as one.
type flows struct {
	ranker  flowRanker
	classes classes
	hashing
	table  []flow  // a power of two
	order  []int32 // a heap of the flows with packets, the next one at its front
	ranked uint64  // flows that were ranked: the earlier goes first when ranks are equal
}

// flow is a flow and its packets.
type flow struct {
	packet.Queue
	rank, tie uint64
	at        int32 // place in the heap; valid while there are packets
}

// flowRanker gives flows their ranks, which wrap around as those of an [entry] do.
type flowRanker interface {
	// joined ranks flow i when k has joined its tail.
	joined(now time.Duration, i int, f *flow, k *packet.Packet) uint64
	// left ranks flow i when k has left its head; f may be empty then.
	left(now time.Duration, i int, f *flow, k *packet.Packet) uint64
}

var (
	_ Scheduler = (*flows)(nil)
	_ Sorter    = (*flows)(nil)
	_ ByMessage = (*flows)(nil)
)

func newFlows(r flowRanker, count int, classes classes) *flows {
	h, n := newHashing(count)
	return &flows{ranker: r, classes: classes, hashing: h, table: make([]flow, n), order: make([]int32, 0, n)}
}

// hashing tells flows apart by their hash.
type hashing struct{ shift int } // of a hash, to the number of its flow

// newHashing is for a table with room for that many flows or more, a power of two.
func newHashing(count int) (h hashing, room int) {
	n := bits.Len(uint(count - 1))
	return hashing{32 - n}, 1 << n
}

// flowOf spreads hashes over the table. Ports on equal paths see hashes that leave the
// same remainder, so their low bits are not enough.
func (h hashing) flowOf(k *packet.Packet) int {
	const golden = 2654435769 // 2^32 over the golden ratio (Knuth, volume 3, section 6.4)
	return int(uint64(k.Hash*golden) >> h.shift)
}

func (s *flows) Hold(now time.Duration, _ int, k *packet.Packet) {
	i := s.flowOf(k)
	f := &s.table[i]
	f.Push(k)
	rank := s.ranker.joined(now, i, f, k)
	if f.Len() == 1 {
		f.at = int32(len(s.order))
		s.order = append(s.order, int32(i))
	} else if rank == f.rank {
		return
	}
	s.place(f, rank)
}

func (s *flows) Head() *packet.Packet {
	if len(s.order) == 0 {
		return nil
	}
	return s.table[s.order[0]].Head()
}

func (s *flows) Take(now time.Duration) *packet.Packet {
	i := s.order[0]
	f := &s.table[i]
	k := f.Pop()
	rank := s.ranker.left(now, int(i), f, k)
	if f.Len() > 0 {
		s.place(f, rank)
		return k
	}
	last := len(s.order) - 1
	s.set(0, s.order[last])
	s.order = s.order[:last]
	if last > 0 {
		s.down(0)
	}
	return k
}

func (s *flows) Next(time.Duration) (int, bool) {
	k := s.Head()
	if k == nil {
		return 0, false
	}
	return s.classes.of(k), true
}

// ByMessage tells whether ranks are remaining bytes.
func (s *flows) ByMessage() bool {
	_, ok := s.ranker.(srptFlows)
	return ok
}

// Enqueued and Sent are not called for a [Sorter].
func (s *flows) Enqueued(time.Duration, int, int) {}

// Sent is not called either.
func (s *flows) Sent(time.Duration, int, int) {}

// place gives a flow of the heap a rank.
func (s *flows) place(f *flow, rank uint64) {
	f.rank, f.tie = rank, s.ranked
	s.ranked++
	s.down(s.up(int(f.at)))
}

func (s *flows) set(at int, i int32) {
	s.order[at] = i
	s.table[i].at = int32(at)
}

func (s *flows) before(a, b int) bool {
	x, y := &s.table[s.order[a]], &s.table[s.order[b]]
	return entry{rank: x.rank, tie: x.tie}.before(entry{rank: y.rank, tie: y.tie})
}

// up moves what stands at a place of the heap towards its front, and tells where it is.
func (s *flows) up(at int) int {
	for at > 0 && s.before(at, (at-1)/2) {
		s.swap(at, (at-1)/2)
		at = (at - 1) / 2
	}
	return at
}

func (s *flows) down(at int) {
	for {
		least := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(s.order); child++ {
			if s.before(child, least) {
				least = child
			}
		}
		if least == at {
			return
		}
		s.swap(at, least)
		at = least
	}
}

func (s *flows) swap(a, b int) {
	x, y := s.order[a], s.order[b]
	s.set(a, y)
	s.set(b, x)
}
