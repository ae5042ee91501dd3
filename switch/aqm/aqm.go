// Package aqm holds the schemes that decide, packet by packet, whether a
// switch port passes, marks (ECN), or drops.
//
// A scheme owns no queue, clock, goroutine or logger. The port tells it the
// lab time and plain facts about the queue; the same scheme therefore runs
// behind real hosts and in virtual time.
package aqm

import (
	"math"
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

// RoundObserver is implemented by schemes that measure how long the rounds of
// the scheduler take (MQ-ECN, section 3.3).
type RoundObserver interface {
	// TurnEnded tells that a queue finished its turn: the last bit of the turn's
	// last packet leaves the port at now. emptied says that the queue ran out of
	// packets; otherwise its quantum did not allow the next one.
	TurnEnded(now time.Duration, queue int, emptied bool)
}

// Foreseeable is implemented by schemes that may be as simple as a [Cutoff].
type Foreseeable interface {
	// Foresee is what the scheme does with the packets of a port that has one queue and
	// memory of its own, or ok false where it does something else.
	Foresee() (c Cutoff, ok bool)
}

// Cutoff marks a packet on arrival, if it can be marked, where more than so many bytes wait.
// All others pass, and all that depart.
type Cutoff struct {
	Over     int
	Arriving bool // counts the packet that arrives
}

// View is what a scheme may know about the port when it decides. Bytes are the
// lengths of packets, of which [Env.Lengths] tells a single one's.
type View struct {
	Queue     int           // the packet's queue, from 0
	Packets   int           // packets in that queue
	Bytes     int           // bytes in that queue
	PortBytes int           // bytes in all queues of the port
	PoolBytes int           // bytes in the service pool that the port draws from; PortBytes when it has its own buffer
	Waited    time.Duration // sojourn time of a departing packet; zero on arrival
}

// Verdict is what a scheme wants done with a packet.
type Verdict uint8

// The verdicts. They differ in what happens to a packet that is not ECN-capable. Only
// the port knows whether a packet is.
const (
	Pass       Verdict = iota
	Mark               // a packet that cannot be marked passes, as in the papers' switches
	MarkOrDrop         // a packet that cannot be marked is dropped (RFC 3168, section 5; RFC 7567)
	Drop
)

// String names the verdict.
func (v Verdict) String() string { return [...]string{"pass", "mark", "mark or drop", "drop"}[v] }

// Env is what a scheme is built for: one port.
type Env struct {
	Queues  int            // number of queues, at least 1
	Weights []int          // relative share of each queue under its scheduler; one entry a queue
	Quanta  []int          // bytes that each queue may send in a round; nil when the scheduler has no rounds
	Lengths packet.Lengths // what all lengths count of a packet
	Strict  int            // how many queues, from 0, are served strictly before the others
	Rate    units.Rate     // line rate C of the port
	RTTs    RTTs           // base RTTs, for what is computed from them
	Rand    *rand.Rand     // seeded; the only randomness that a scheme may use
	Tell    func(Derived)  // is told each parameter that the scheme computes; may be nil
}

// fullPacket is the length of a packet that fills an MTU of 1500.
func (e Env) fullPacket() int { return e.Lengths.Of(packet.FullPacket) }

// dropTail leaves everything to the buffer: a packet that fits is queued, and any other
// is dropped.
type dropTail struct{}

var _ Scheme = dropTail{}

func newDropTail(struct{}, Env) (Scheme, error) { return dropTail{}, nil }

func (dropTail) Arrive(time.Duration, *packet.Packet, View) Verdict { return Pass }
func (dropTail) Depart(time.Duration, *packet.Packet, View) Verdict { return Pass }

func (dropTail) Foresee() (Cutoff, bool) { return Cutoff{Over: math.MaxInt}, true }
