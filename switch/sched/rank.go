package sched

import (
	"time"

	"aqmlab/kind"
)

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

func newLSTF(slacks []time.Duration, queues int) (ranker, error) {
	if len(slacks) != queues {
		return nil, kind.Invalid("slacks", "%d slacks for %d queues", len(slacks), queues)
	}
	for _, slack := range slacks {
		if slack < 0 {
			return nil, kind.Invalid("slacks", "%v is negative", slack)
		}
	}
	return lstf{slacks}, nil
}

func (l lstf) rank(now time.Duration, q, _ int) uint64 { return uint64(now + l.slacks[q]) }

func (lstf) served(uint64) {}

// srpt ranks by the class of a flow's remaining size, which its sender tags: the
// lower the queue's number, the less remains.
type srpt struct{}

func (srpt) rank(_ time.Duration, q, _ int) uint64 { return uint64(q) }

func (srpt) served(uint64) {}
