package sched

import (
	"slices"
	"time"

	"aqmlab/switch/packet"
)

// SPPIFO comes near the order of a [PIFO] with a few strict priorities (Alcoz, Dietmüller and
// Vanbever, SP-PIFO, NSDI 2020). Each has a bound. A packet joins the lowest priority whose
// bound its rank reaches, which becomes the bound then (push-up). A rank below all bounds is
// taken by the highest priority, where it stands behind greater ones. Then all bounds go down
// by what it was below (push-down). Bounds stay as they are when a packet is dropped.
//
// The scheme of the port is asked about these priorities, the first one served first.
// In the paper's simulations there are 8, and each holds 10 packets.
type SPPIFO struct {
	Rank       string `lab:"rank" oneof:"srpt,las,stfq" what:"name" doc:"rank of a packet: srpt (bytes that remain of its message) or las (those before it), which packets of modelled hosts carry, or stfq (its start time in fair queueing of flows)"`
	Priorities int    `lab:"priorities" range:"1..64" doc:"strict priorities"`
	Depth      int    `lab:"depth" range:"0..1000000" doc:"packets that each holds; 0 leaves that to the buffer"`
	Flows      int    `lab:"flows" range:"2..1048576" doc:"of stfq: entries of the table of flows, rounded up to a power of two"`
}

type spPIFO struct {
	byRank
	depth  int
	bounds []uint64 // of priorities
}

var (
	_ Scheduler  = (*spPIFO)(nil)
	_ Sorter     = (*spPIFO)(nil)
	_ Classifier = (*spPIFO)(nil)
	_ Admitter   = (*spPIFO)(nil)
	_ ByMessage  = (*spPIFO)(nil)
)

func newSPPIFO(p SPPIFO, env Env) (Scheduler, error) {
	ranks := newPacketRanks(p.Rank, p.Flows, slices.Repeat([]int{1}, env.Queues), env)
	return &spPIFO{newByRank(ranks, env, p.Priorities), p.Depth, make([]uint64, p.Priorities)}, nil
}

// Queue is the lowest priority whose bound the packet's rank reaches, or the highest.
func (s *spPIFO) Queue(k *packet.Packet) int {
	rank := s.ranks.of(k)
	for q := len(s.bounds) - 1; q > 0; q-- {
		if !precedes(rank, s.bounds[q]) {
			return q
		}
	}
	return 0
}

// Admits refuses a packet of a priority that is full.
func (s *spPIFO) Admits(_ *packet.Packet, q int) bool {
	return s.depth == 0 || s.queues[q].Len() < s.depth
}

func (s *spPIFO) Hold(_ time.Duration, q int, k *packet.Packet) {
	rank := s.ranks.of(k)
	if below := s.bounds[0] - rank; q == 0 && precedes(rank, s.bounds[0]) {
		for i := range s.bounds {
			s.bounds[i] -= below
		}
	}
	s.bounds[q] = rank
	s.ranks.joined(k, rank)
	s.queues[q].push(k, rank)
}
