// Package sched holds the disciplines that choose which queue of a port sends
// next.
package sched

import (
	"fmt"
	"slices"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// Scheduler chooses among the queues of one port. It owns no packets: it is
// told what joins and what leaves, and looks at heads through [Heads]. Sizes of
// packets are their lengths, of whatever sort the port counts.
type Scheduler interface {
	// Enqueued tells that a packet of size bytes joined the tail of queue q.
	Enqueued(now time.Duration, q, size int)
	// Next is the queue whose head leaves next, or ok false when all are empty.
	// Asking again without Sent in between gives the same answer unless a
	// packet joined.
	Next(now time.Duration) (q int, ok bool)
	// Sent tells that the head of queue q, of size bytes, has left. q is what
	// Next answered.
	Sent(now time.Duration, q, size int)
}

// Sorter is implemented by schedulers that order packets, whatever their queue. The port
// gives them its packets to hold in place of Enqueued and Sent. Next is the queue of the
// head.
type Sorter interface {
	// Hold takes a packet that joins queue q: of the port, or of a [Classifier].
	Hold(now time.Duration, q int, k *packet.Packet)
	// Head is the packet that leaves next, or nil.
	Head() *packet.Packet
	// Take takes the head out.
	Take(now time.Duration) *packet.Packet
}

// Classifier is implemented by a [Sorter] that sorts packets into queues of its own. The
// scheme of the port is asked about these in place of the port's, which only count what
// happens to the packets of each class.
type Classifier interface {
	// Queues is how many there are.
	Queues() int
	// Queue is the one that an arriving packet belongs to, before the scheme has seen it.
	// Hold is told it.
	Queue(k *packet.Packet) int
	// Taken is that of the packet that was taken last.
	Taken() int
	// Length is what a queue holds.
	Length(q int) (packets, bytes int)
}

// Admitter is implemented by a [Classifier] that refuses packets though the buffer has room.
type Admitter interface {
	// Admits tells whether a packet that arrives may join queue q, which is its own. It is
	// asked once for each, before the buffer and the scheme are.
	Admits(k *packet.Packet, q int) bool
}

// Evictor is implemented by a [Sorter] that pushes packets out when the buffer has no room
// for one that arrives.
type Evictor interface {
	// Evict takes out one packet or more in favour of k, each of which is the Next of the one
	// before. It is nil when none is held that k goes before.
	Evict(k *packet.Packet) *packet.Packet
}

// Refunder is implemented by a [Sorter] that charges its queues only for what is sent.
type Refunder interface {
	// Refund tells that the scheme dropped the packet that was taken last.
	Refund(k *packet.Packet)
}

// ByMessage is implemented by schedulers that may read what packets tell of their messages:
// how many bytes remain, or came before. Those of real hosts do not tell.
type ByMessage interface{ ByMessage() bool }

// Heads is how a scheduler sees the queues.
type Heads interface {
	// HeadSize is the length in bytes of the packet at the head of queue q, or
	// zero when the queue is empty.
	HeadSize(q int) int
}

// Env is what a scheduler is built for: the queues of one port.
type Env struct {
	Queues int
	Heads  Heads
	// FullPacket is the length of one: the quantum where a kind has none of its own.
	FullPacket int
	// Lengths says what a packet counts, for schedulers that hold packets.
	Lengths packet.Lengths
	// Buffer is the packet memory that the port may fill. Zero: it is not to run.
	Buffer units.Size
	// Classes says which queue a packet belongs to, for the same.
	Classes *packet.Classes
	// TurnEnded, unless nil, is called by schedulers that serve in rounds when a
	// queue's turn is over. If the quantum did not allow the next packet, that is when
	// the link is free again. If the queue emptied, it is at the start of its last
	// packet.
	TurnEnded func(now time.Duration, q int, emptied bool)
	// Schedulers lists the kinds that an inner scheduler may be of.
	Schedulers kind.Table[Env, Scheduler]
}

// classes is which queue of a port a packet belongs to.
type classes struct {
	queues int
	by     *packet.Classes
}

func (e Env) classes() classes { return classes{e.Queues, e.Classes} }

func (c classes) of(k *packet.Packet) int { return c.by.Of(k, c.queues) }

// Weighted is implemented by schedulers that share a link by weight.
type Weighted interface {
	// Weights are the shares that the queues get when all are busy. A queue that
	// is served strictly before others has no share: its weight is 0.
	Weights() []int
}

// Rounds is implemented by schedulers that serve their queues in rounds.
type Rounds interface {
	// Quanta are the bytes that each queue may send in a round. A queue that is
	// served strictly before others has no turns: its quantum is 0.
	Quanta() []int
}

// Prioritized is implemented by schedulers that serve queues strictly.
type Prioritized interface {
	// Strict is how many queues, from 0, are served before all queues of a higher
	// number.
	Strict() int
}

// Queues is how many queues a port's scheme is asked about: those of a [Classifier], or of
// the port.
func Queues(s Scheduler, queues int) int {
	if c, ok := s.(Classifier); ok {
		return c.Queues()
	}
	return queues
}

// Weights are the shares that s gives to busy queues: its own if it is
// [Weighted], else equal ones.
func Weights(s Scheduler, queues int) []int {
	if w, ok := s.(Weighted); ok {
		return w.Weights()
	}
	return slices.Repeat([]int{1}, queues)
}

// Quanta are the bytes a round of each queue of s, or nil when it has no rounds.
func Quanta(s Scheduler) []int {
	if r, ok := s.(Rounds); ok {
		return r.Quanta()
	}
	return nil
}

// Strict is how many queues of s, from 0, are served before all queues of a
// higher number.
func Strict(s Scheduler) int {
	if p, ok := s.(Prioritized); ok {
		return p.Strict()
	}
	return 0
}

// fifo serves a port that has a single queue.
type fifo struct{ heads Heads }

var _ Scheduler = fifo{}

func newFIFO(_ struct{}, env Env) (Scheduler, error) {
	if env.Queues != 1 {
		return nil, fmt.Errorf("a fifo has one queue, not %d", env.Queues)
	}
	return fifo{env.Heads}, nil
}

// IsFIFO tells whether packets leave in the order in which they came, of a single queue.
func IsFIFO(s Scheduler) bool {
	_, is := s.(fifo)
	return is
}

func (fifo) Enqueued(time.Duration, int, int) {}

func (f fifo) Next(time.Duration) (int, bool) { return 0, f.heads.HeadSize(0) > 0 }

func (fifo) Sent(time.Duration, int, int) {}
