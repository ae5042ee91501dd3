package sched

import (
	"slices"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// AIFO admits the packets that a [PIFO] would send, and sends them in the order of arrival
// (Yu et al., Programmable Packet Scheduling with a Single Queue, SIGCOMM 2021). A queue that
// holds at most a share k of its capacity takes every packet. Beyond that a packet is taken
// if the share of recent packets whose ranks are below its own is at most the free share of
// the capacity over 1 - k. So the fuller the queue, the smaller must the rank be.
//
// Recent packets are a window of those that arrived, of which one in so many enters, whether
// they were taken or not.
type AIFO struct {
	Rank     string     `lab:"rank" oneof:"srpt,las,stfq" what:"name" doc:"rank of a packet: srpt (bytes that remain of its message) or las (those before it), which packets of modelled hosts carry, or stfq (its start time in fair queueing of flows)"`
	K        float64    `lab:"k" range:"[0, 0.999]" doc:"share of the capacity up to which every packet is taken"`
	Window   int        `lab:"window" range:"1..4096" doc:"ranks that are remembered"`
	Sample   int        `lab:"sample" range:"1..1000000" doc:"one packet in so many enters the window"`
	Capacity units.Size `lab:"capacity" range:"1B..1GB" doc:"bytes at which the queue is full; the buffer when absent"`
	Flows    int        `lab:"flows" range:"2..1048576" doc:"of stfq: entries of the table of flows, rounded up to a power of two"`
}

type aifo struct {
	byRank
	k, capacity float64
	window      []uint64 // ranks of recent packets, in a ring once it is full
	oldest      int      // in a full window
	sample      int
	arrived     int // since one entered the window
}

var (
	_ Scheduler  = (*aifo)(nil)
	_ Sorter     = (*aifo)(nil)
	_ Classifier = (*aifo)(nil)
	_ Admitter   = (*aifo)(nil)
	_ ByMessage  = (*aifo)(nil)
)

func newAIFO(p AIFO, env Env) (Scheduler, error) {
	if p.Capacity == 0 {
		p.Capacity = env.Buffer
	}
	if env.Buffer > 0 && p.Capacity > env.Buffer {
		return nil, kind.Invalid("capacity", "%v is more than the buffer of %v", p.Capacity, env.Buffer)
	}
	ranks := newPacketRanks(p.Rank, p.Flows, slices.Repeat([]int{1}, env.Queues), env)
	return &aifo{
		byRank: newByRank(ranks, env, 1), k: p.K, capacity: float64(p.Capacity),
		window: make([]uint64, 0, p.Window), sample: p.Sample, arrived: p.Sample - 1,
	}, nil
}

func (s *aifo) Queue(*packet.Packet) int { return 0 }

func (s *aifo) Admits(k *packet.Packet, _ int) bool {
	rank, held := s.ranks.of(k), float64(s.queues[0].Bytes())
	below := s.below(rank)
	s.notice(rank)
	return held <= s.k*s.capacity || below*(1-s.k)*s.capacity <= s.capacity-held
}

// below is the share of the window that has smaller ranks.
func (s *aifo) below(rank uint64) float64 {
	n := 0
	for _, r := range s.window {
		if precedes(r, rank) {
			n++
		}
	}
	return float64(n) / float64(max(len(s.window), 1))
}

// notice puts the rank of an arrival into the window when its turn is.
func (s *aifo) notice(rank uint64) {
	if s.arrived++; s.arrived < s.sample {
		return
	}
	s.arrived = 0
	if len(s.window) < cap(s.window) {
		s.window = append(s.window, rank)
		return
	}
	s.window[s.oldest] = rank
	s.oldest = (s.oldest + 1) % len(s.window)
}

func (s *aifo) Hold(_ time.Duration, _ int, k *packet.Packet) {
	rank := s.ranks.of(k)
	s.ranks.joined(k, rank)
	s.queues[0].push(k, rank)
}
