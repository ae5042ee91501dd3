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
// No rank function lets a packet overtake another of its own queue, or with by: flow
// of its own flow, so it is enough to keep the heads in order, as the paper's hardware
// does. With by: packet each has a rank of its own, and all are in order. A packet that finds
// no room then takes the place of the one with the largest rank, if that is larger than its
// own. Packets of a flow may overtake each other.
type PIFO struct {
	Rank    string          `lab:"rank" oneof:"stfq,lstf,srpt,las" what:"name" doc:"stfq (start-time fair queueing), lstf (least slack time first), srpt (shortest remaining processing time) or las (least attained service)"`
	By      string          `lab:"by" oneof:"class,flow,packet" what:"choice" doc:"what has a rank: class (the DSCP, that is the queue; of srpt the lower one is first, and las has none), flow or packet; srpt by flow or packet, and las by packet, are for modelled hosts, whose packets tell where in their message they stand"`
	Weights []int           `lab:"weights" range:"1..1000000000" doc:"of stfq: shares of the link, one a queue; all 1 when absent"`
	Slacks  []time.Duration `lab:"slacks" range:"0s..100h" doc:"of lstf: how long a packet may wait, one a queue"`
	Slack   string          `lab:"slack" oneof:"hop,path" what:"choice" doc:"of lstf: who grants a packet its slack, hop (each switch anew) or path (all together, what it waited at earlier ones is used up); path needs by: flow"`
	Flows   int             `lab:"flows" range:"2..1048576" doc:"by flow: entries of the table of flows, rounded up to a power of two; flows with the same entry count as one"`
	Gap     time.Duration   `lab:"gap" range:"0s..100h" doc:"of las: silence after which a flow counts as a new one, as of PIAS' messages"`
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
	if p.Rank == rankLSTF && len(p.Slacks) != env.Queues {
		return nil, kind.Invalid("slacks", "%d slacks for %d queues", len(p.Slacks), env.Queues)
	}
	if err := p.checkBy(); err != nil {
		return nil, err
	}
	weights, err := weightsFor(p.Weights, env.Queues)
	if err != nil {
		return nil, err
	}
	switch p.By {
	case byFlow:
		return p.ofFlows(weights, env), nil
	case byPacket:
		return newPackets(newPacketRanks(p.Rank, p.Flows, weights, env), env.classes()), nil
	}
	s := &pifo{weights: weights, waiting: make([]rankQueue, env.Queues), order: make(ranking, 0, env.Queues)}
	switch p.Rank {
	case rankSTFQ:
		s.ranker = newSTFQ(weights, len(weights))
	case rankLSTF:
		s.ranker = lstf{p.Slacks}
	case rankSRPT:
		s.ranker, s.strict, s.weights = srpt{}, env.Queues, make([]int, env.Queues)
	}
	return s, nil
}

// checkBy sees whether what has a rank fits the rank.
func (p PIFO) checkBy() error {
	switch {
	case p.Rank == rankLAS && p.By == byClass:
		return kind.Invalid("by", "a class attains service for ever: rank %s wants by %s", rankLAS, byFlow)
	case p.Rank == rankLSTF && p.By == byPacket:
		return kind.Invalid("by", "packets carry no deadline: rank %s wants by %s or %s", rankLSTF, byClass, byFlow)
	case p.Slack == slackOfPath && p.Rank != rankLSTF:
		return kind.Invalid("slack", "%s has none: want rank %s", p.Rank, rankLSTF)
	case p.Slack == slackOfPath && p.By == byClass:
		return kind.Invalid("slack", "packets of a class differ in what is left of it: %s wants by %s", slackOfPath, byFlow)
	}
	return nil
}

// ofFlows ranks by flow. The weights are those of classes.
func (p PIFO) ofFlows(weights []int, env Env) Scheduler {
	s := newFlows(nil, p.Flows, env.classes())
	switch p.Rank {
	case rankSTFQ:
		s.ranker = stfqFlows{newSTFQ(weights, len(s.table)), env.classes(), env.Lengths}
	case rankLAS:
		s.ranker = &las{p.Gap, env.Lengths, make([]lasFlow, len(s.table))}
	case rankLSTF:
		s.ranker = lstfFlows{p.Slacks, p.Slack == slackOfPath, env.classes()}
	case rankSRPT:
		s.ranker = srptFlows{}
	}
	return s
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
	rankLAS  = "las"
)

// What has a rank.
const (
	byClass  = "class"
	byFlow   = "flow"
	byPacket = "packet"
)

// What a slack is granted for.
const (
	slackOfHop  = "hop"
	slackOfPath = "path"
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
	finish  []uint64 // of each queue's, or flow's, last packet
}

// epochBits is how far, as a power of two, the virtual time may move on before
// the finish tags of idle queues follow it.
const epochBits = 60

// newSTFQ is for so many queues or flows, with the weights of classes.
func newSTFQ(weights []int, flows int) *stfq {
	return &stfq{clock: newVirtualClock(weights), finish: make([]uint64, flows)}
}

func (s *stfq) rank(_ time.Duration, q, size int) uint64 { return s.start(q, q, size) }

// begin is where the next packet of a queue or flow starts.
func (s *stfq) begin(flow int) uint64 {
	if start := s.finish[flow]; !precedes(start, s.virtual) {
		return start
	}
	return s.virtual
}

// start is where a packet of a queue or flow starts, which has the weight of a class. The
// next starts where it finishes.
func (s *stfq) start(flow, class, size int) uint64 {
	start := s.begin(flow)
	s.finish[flow] = start + s.clock.service(class, size)
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
