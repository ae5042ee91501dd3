// Package kernelaqm records what the kernel's own CoDel, PIE, RED and FQ-CoDel (sch_codel,
// sch_pie, sch_red, sch_fq_codel) do with a given traffic: for each packet when it came and
// went, whether it was marked or dropped, and the state that decided. Our
// schemes can then be asked about the same packets at the same times.
//
// Records come from BPF programs at the disciplines' own functions, so that the
// times are the ones that a discipline itself read. That needs root, the
// kernel's type information (BTF), and one CPU: a guest of package vm.
package kernelaqm

import (
	"time"
)

// Kind tells what happened.
type Kind uint8

// The kinds of events, as qdisc.bpf.c numbers them.
const (
	Arrival   Kind = iota + 1 // a packet was queued, or dropped instead
	Departure                 // a packet left the queue
	Control                   // PIE's controller ran
	Empty                     // FQ-CoDel was asked for a packet and had none
)

// Event is one moment in the life of a queue.
type Event struct {
	Kind    Kind
	Now     time.Duration // since boot; of CoDel and FQ-CoDel in steps of 1024 ns, of PIE 64 ns
	Number  int           // the packet, counted from 0 in the order of sending
	Bytes   int           // its length with the Ethernet header, which a discipline counts
	Backlog int           // bytes in the queue without it
	Dropped bool          // on arrival
	Marked  bool          // it carries CE

	Average int // RED: average length, bytes, rounded down

	Probability float64 // PIE: of a mark
	Accumulated float64 // PIE: the probabilities since the last mark, summed up
	Drew        bool    // PIE: a random number decided
	Random      uint64  // PIE: that number; its upper 56 bits count
}

// pieUnit is PIE's unit of probability.
const pieUnit = 1.0 / (1 << 56)

func newEvent(e qdiscEvent) Event {
	return Event{
		Kind:        Kind(e.Kind),
		Now:         time.Duration(e.Now),
		Number:      int(e.Number),
		Bytes:       int(e.Bytes),
		Backlog:     int(e.Backlog),
		Dropped:     e.Dropped != 0,
		Marked:      e.Marked != 0,
		Average:     int(e.Average),
		Probability: float64(e.Probability) * pieUnit,
		Accumulated: float64(e.Accumulated) * pieUnit,
		Drew:        e.Drew != 0,
		Random:      e.Random,
	}
}
