package sched

import (
	"math/bits"
	"time"

	"aqmlab/kind"
)

// PIFO is a push-in first-out queue (Sivaraman et al., SIGCOMM 2016): every
// packet gets a rank on arrival, and the one with the smallest leaves next;
// equal ones leave in the order of arrival.
//
// No rank function lets a packet overtake another of its own queue, so it is
// enough to keep the heads in order, as the paper's hardware does.
type PIFO struct {
	Rank    string          `lab:"rank" oneof:"stfq,lstf,srpt" what:"name" doc:"stfq (start-time fair queueing), lstf (least slack time first) or srpt (lower queue first: the smaller remaining-size class)"`
	Weights []int           `lab:"weights" range:"1..1000000000" doc:"of stfq: shares of the link, one a queue; all 1 when absent"`
	Slacks  []time.Duration `lab:"slacks" range:"0s..100h" doc:"of lstf: how long a packet may wait, one a queue"`
}

type pifo struct {
	ranker
	weights []int
	strict  int
	seq     uint64      // of the next arrival
	waiting []rankQueue // of the packets of each queue
	order   ranking     // of the heads
}

var (
	_ Scheduler   = (*pifo)(nil)
	_ Weighted    = (*pifo)(nil)
	_ Prioritized = (*pifo)(nil)
)

func newPIFO(p PIFO, env Env) (Scheduler, error) {
	if p.Rank != rankSTFQ && len(p.Weights) > 0 {
		return nil, kind.Invalid("weights", "%s has none: want rank %s", p.Rank, rankSTFQ)
	}
	if p.Rank != rankLSTF && len(p.Slacks) > 0 {
		return nil, kind.Invalid("slacks", "%s has none: want rank %s", p.Rank, rankLSTF)
	}
	weights, err := weightsFor(p.Weights, env.Queues)
	if err != nil {
		return nil, err
	}
	s := &pifo{weights: weights, waiting: make([]rankQueue, env.Queues), order: make(ranking, 0, env.Queues)}
	switch p.Rank {
	case rankSTFQ:
		s.ranker = newSTFQ(weights)
	case rankLSTF:
		if len(p.Slacks) != env.Queues {
			return nil, kind.Invalid("slacks", "%d slacks for %d queues", len(p.Slacks), env.Queues)
		}
		s.ranker = lstf{p.Slacks}
	case rankSRPT:
		s.ranker, s.strict, s.weights = srpt{}, env.Queues, make([]int, env.Queues)
	}
	return s, nil
}

func (s *pifo) Weights() []int { return s.weights }
func (s *pifo) Strict() int    { return s.strict }

func (s *pifo) Enqueued(now time.Duration, q, size int) {
	e := entry{s.rank(now, q, size), s.seq, q}
	s.seq++
	if s.waiting[q].count == 0 {
		s.order.push(e)
	}
	s.waiting[q].push(e)
}

func (s *pifo) Next(time.Duration) (int, bool) { return s.order.next() }

func (s *pifo) Sent(_ time.Duration, q, _ int) {
	waiting := &s.waiting[q]
	s.served(waiting.head().rank)
	waiting.pop()
	if waiting.count == 0 {
		s.order.pop()
		return
	}
	s.order.replace(waiting.head())
}

// rankQueue is the packets of one queue, in a ring that grows to the longest
// that the queue has been.
type rankQueue struct {
	ring  []entry // its length is a power of two
	front int
	count int
}

func (r *rankQueue) head() entry { return r.ring[r.front] }

func (r *rankQueue) push(e entry) {
	if r.count == len(r.ring) {
		grown := make([]entry, max(16, 1<<bits.Len(uint(r.count))))
		n := copy(grown, r.ring[r.front:])
		copy(grown[n:], r.ring[:r.front])
		r.ring, r.front = grown, 0
	}
	r.ring[(r.front+r.count)&(len(r.ring)-1)] = e
	r.count++
}

func (r *rankQueue) pop() {
	r.front = (r.front + 1) & (len(r.ring) - 1)
	r.count--
}

// The rank functions of [PIFO].
const (
	rankSTFQ = "stfq"
	rankLSTF = "lstf"
	rankSRPT = "srpt"
)

// ranker gives the packets of a [PIFO] their ranks: within a queue never a
// smaller one to a later packet.
type ranker interface {
	rank(now time.Duration, q, size int) uint64
	served(rank uint64) // a packet of that rank leaves
}

// stfq ranks by the virtual time at which a packet starts: when the packet
// before it in its queue finishes, but not before the start of the one in
// service (Goyal, Vin and Cheng, SIGCOMM 1996).
type stfq struct {
	clock   virtualClock
	virtual uint64
	finish  []uint64 // of each queue's last packet
}

// epochBits is how far, as a power of two, the virtual time may move on before
// the finish tags of idle queues follow it.
const epochBits = 60

func newSTFQ(weights []int) *stfq {
	return &stfq{clock: newVirtualClock(weights), finish: make([]uint64, len(weights))}
}

func (s *stfq) rank(_ time.Duration, q, size int) uint64 {
	start := s.finish[q]
	if precedes(start, s.virtual) {
		start = s.virtual
	}
	s.finish[q] = start + s.clock.service(q, size)
	return start
}

// served advances the virtual time. Tags wrap around, so one of a queue that is
// idle for very long must not fall behind by half of their range.
func (s *stfq) served(rank uint64) {
	if rank>>epochBits != s.virtual>>epochBits {
		for q, finish := range s.finish {
			if precedes(finish, rank) {
				s.finish[q] = rank
			}
		}
	}
	s.virtual = rank
}

// lstf ranks by the time at which a packet's slack runs out (Mittal et al., NSDI
// 2016). The time it takes to send is left out: a switch serves whole packets,
// and within a class they are alike.
type lstf struct{ slacks []time.Duration }

func (l lstf) rank(now time.Duration, q, _ int) uint64 { return uint64(now + l.slacks[q]) }

func (lstf) served(uint64) {}

// srpt ranks by the class of a flow's remaining size, which its sender tags: the
// lower the queue's number, the less remains.
type srpt struct{}

func (srpt) rank(_ time.Duration, q, _ int) uint64 { return uint64(q) }

func (srpt) served(uint64) {}
