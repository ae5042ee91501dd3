package sched

import (
	"time"

	"aqmlab/switch/packet"
)

// rankedFIFO is a queue in the order of arrival that knows the ranks of its packets.
type rankedFIFO struct {
	packet.Queue
	ranks rankQueue
}

func (f *rankedFIFO) push(k *packet.Packet, rank uint64) {
	f.Push(k)
	f.ranks.push(entry{rank: rank})
}

func (f *rankedFIFO) pop() (k *packet.Packet, rank uint64) {
	if k = f.Pop(); k == nil {
		return nil, 0
	}
	rank = f.ranks.head().rank
	f.ranks.pop()
	return k, rank
}

// byRank is what schedulers have in common that sort packets by their ranks into queues of
// their own. The first with packets is served.
type byRank struct {
	ranks   packetRanks
	classes classes
	queues  []rankedFIFO
	taken   int // queue of the packet that was taken last
}

func newByRank(r packetRanks, env Env, queues int) byRank {
	s := byRank{ranks: r, classes: env.classes(), queues: make([]rankedFIFO, queues)}
	for q := range s.queues {
		s.queues[q].Queue = packet.NewQueue(env.Lengths)
	}
	return s
}

// Queues, Taken and Length are those of the queues by rank.
func (s *byRank) Queues() int { return len(s.queues) }

// Taken is the queue that was served last.
func (s *byRank) Taken() int { return s.taken }

// Length is that of a queue.
func (s *byRank) Length(q int) (packets, bytes int) { return s.queues[q].Len(), s.queues[q].Bytes() }

// busy is the first queue with packets, or beyond them.
func (s *byRank) busy() int {
	q := 0
	for q < len(s.queues) && s.queues[q].Len() == 0 {
		q++
	}
	return q
}

func (s *byRank) Head() *packet.Packet {
	if q := s.busy(); q < len(s.queues) {
		return s.queues[q].Head()
	}
	return nil
}

func (s *byRank) Take(time.Duration) *packet.Packet {
	q := s.busy()
	if q == len(s.queues) {
		return nil
	}
	s.taken = q
	k, rank := s.queues[q].pop()
	s.ranks.served(rank)
	return k
}

func (s *byRank) Next(time.Duration) (int, bool) {
	k := s.Head()
	if k == nil {
		return 0, false
	}
	return s.classes.of(k), true
}

// ByMessage tells whether ranks are of messages.
func (s *byRank) ByMessage() bool { return readsMessages(s.ranks) }

// Enqueued and Sent are not called for a [Sorter].
func (s *byRank) Enqueued(time.Duration, int, int) {}

// Sent is not called either.
func (s *byRank) Sent(time.Duration, int, int) {}
