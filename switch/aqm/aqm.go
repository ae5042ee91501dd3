// Package aqm holds the schemes that decide, packet by packet, whether a
// switch port passes, marks (ECN), or drops.
//
// A scheme owns no queue, clock, goroutine or logger. The port tells it the
// lab time and plain facts about the queue; the same scheme therefore runs
// behind real hosts and in virtual time.
package aqm

import (
	"math/rand/v2"
	"time"

	"aqmlab/switch/packet"
	"aqmlab/units"
)

// Scheme decides about the packets of one port.
type Scheme interface {
	// Arrive is asked before p joins the tail of its queue: the view does not
	// count p.
	Arrive(now time.Duration, p *packet.Packet, v View) Verdict
	// Depart is asked after p left the head of its queue, when the limiter let
	// it go: the view does not count p, and Waited is p's sojourn time.
	Depart(now time.Duration, p *packet.Packet, v View) Verdict
}

// View is what a scheme may know about the port when it decides. Lengths
// count network-layer bytes (a full packet of a 1500-byte MTU is 1500 bytes).
type View struct {
	Queue     int           // the packet's queue, from 0
	Packets   int           // packets in that queue
	Bytes     int           // bytes in that queue
	PortBytes int           // bytes in all queues of the port
	Waited    time.Duration // sojourn time of a departing packet; zero on arrival
}

// Verdict is what a scheme wants done with a packet.
type Verdict uint8

// The verdicts. The port alone decides what Mark means for a packet that is
// not ECN-capable.
const (
	Pass Verdict = iota
	Mark
	Drop
)

// String names the verdict.
func (v Verdict) String() string { return [...]string{"pass", "mark", "drop"}[v] }

// Env is what a scheme is built for: one port.
type Env struct {
	Queues  int           // number of queues, at least 1
	Weights []int         // relative share of each queue under its scheduler; one entry a queue
	Rate    units.Rate    // line rate C of the port
	RTT     time.Duration // base RTT for which standard thresholds are computed
	Rand    *rand.Rand    // seeded; the only randomness that a scheme may use
}
