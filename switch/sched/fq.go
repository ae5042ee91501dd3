package sched

import (
	"cmp"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// FQ is the fair queueing of FQ-CoDel (RFC 8290): a queue for each flow, found by its hash,
// which deficit round robin serves in two lists. Queues that get their first packet stand
// in the list of new ones, which is served before the list of old ones. One that empties
// goes to the end of the old ones first, so that no flow stays new by sending little at a
// time (section 4.2).
//
// The scheme of the port is asked about these queues. With codel each has a CoDel of its
// own, as the RFC has it. Linux's fq_codel leaves all of them alone while the whole port
// holds no more than a full packet. So does codel here with spares: port. By default that
// holds for each queue.
//
// When a packet finds no room, the queue with the most bytes loses half of them from its
// head, but at most a batch of packets (section 4.1). In the RFC that packet has joined its
// queue by then, and counts. Packets that the scheme drops are not charged.
type FQ struct {
	Flows     int        `lab:"flows" range:"2..1048576" doc:"queues for flows, rounded up to a power of two; flows with the same queue count as one"`
	Quantum   units.Size `lab:"quantum" range:"1B..1000GB" doc:"bytes that a flow may send a turn; a full packet when absent"`
	DropBatch int        `lab:"drop_batch" range:"1..1048576" doc:"most packets that the longest queue loses at once when there is no room"`
}

type fq struct {
	hashing
	classes    classes
	quantum    int
	batch      int
	lengths    packet.Lengths
	queues     []fqQueue
	fresh, old fqList
	taken      int // queue of the packet that was taken last
}

// fqQueue is the queue of a flow. It is in one list from its first packet on until its turn
// comes without one.
type fqQueue struct {
	packet.Queue
	deficit int   // bytes that it may still send; it has a turn while that is above zero
	next    int32 // in its list
	listed  bool
}

// fqList is a list of queues by their numbers, linked through them.
type fqList struct {
	first, last int32
	count       int
}

var (
	_ Scheduler  = (*fq)(nil)
	_ Sorter     = (*fq)(nil)
	_ Classifier = (*fq)(nil)
	_ Evictor    = (*fq)(nil)
	_ Refunder   = (*fq)(nil)
)

func newFQ(p FQ, env Env) (Scheduler, error) {
	h, n := newHashing(p.Flows)
	s := &fq{hashing: h, classes: env.classes(), quantum: cmp.Or(int(p.Quantum), env.FullPacket), batch: p.DropBatch, lengths: env.Lengths, queues: make([]fqQueue, n)}
	if s.quantum == 0 {
		return nil, kind.Invalid("quantum", "missing: want a size such as 1538B")
	}
	for i := range s.queues {
		s.queues[i].Queue = packet.NewQueue(env.Lengths)
	}
	return s, nil
}

// Queues, Queue, Taken and Length are those of flows.
func (s *fq) Queues() int { return len(s.queues) }

// Queue is that of the packet's flow.
func (s *fq) Queue(k *packet.Packet) int { return s.flowOf(k) }

// Taken is that of the flow which was served last.
func (s *fq) Taken() int { return s.taken }

// Length is that of a flow's queue.
func (s *fq) Length(q int) (packets, bytes int) { return s.queues[q].Len(), s.queues[q].Bytes() }

func (s *fq) Hold(_ time.Duration, i int, k *packet.Packet) {
	q := &s.queues[i]
	q.Push(k)
	if !q.listed {
		q.listed, q.deficit = true, s.quantum
		s.push(&s.fresh, int32(i))
	}
}

// Head gives turns until a queue with packets has one (RFC 8290, section 4.2).
func (s *fq) Head() *packet.Packet {
	for {
		list := &s.fresh
		if list.count == 0 {
			list = &s.old
		}
		if list.count == 0 {
			return nil
		}
		q := &s.queues[list.first]
		switch {
		case q.deficit <= 0:
			q.deficit += s.quantum
			s.push(&s.old, s.pop(list))
		case q.Len() > 0:
			return q.Head()
		case list == &s.fresh:
			s.push(&s.old, s.pop(list))
		default:
			s.pop(list)
			q.listed = false
		}
	}
}

func (s *fq) Take(time.Duration) *packet.Packet {
	if s.Head() == nil {
		return nil
	}
	s.taken = int(s.turn())
	q := &s.queues[s.taken]
	k := q.Pop()
	q.deficit -= s.lengths.Of(int(k.Size))
	return k
}

// turn is the queue that [fq.Head] gave the turn.
func (s *fq) turn() int32 {
	if s.fresh.count > 0 {
		return s.fresh.first
	}
	return s.old.first
}

func (s *fq) Refund(k *packet.Packet) { s.queues[s.taken].deficit += s.lengths.Of(int(k.Size)) }

func (s *fq) Next(time.Duration) (int, bool) {
	k := s.Head()
	if k == nil {
		return 0, false
	}
	return s.classes.of(k), true
}

func (s *fq) Evict(*packet.Packet) *packet.Packet {
	q := &s.queues[s.longest()]
	keep := q.Bytes() / 2
	first := q.Pop()
	for last, n := first, 1; n < s.batch && q.Bytes() > keep; n++ {
		last.Next = q.Pop()
		last = last.Next
	}
	return first
}

// longest is the queue with the most bytes, of equal ones the one that is served first.
func (s *fq) longest() int {
	most, at := -1, int32(0)
	for _, list := range []fqList{s.fresh, s.old} {
		for i := list.first; list.count > 0; list.count-- {
			if n := s.queues[i].Bytes(); n > most {
				most, at = n, i
			}
			i = s.queues[i].next
		}
	}
	return int(at)
}

// Enqueued and Sent are not called for a [Sorter].
func (s *fq) Enqueued(time.Duration, int, int) {}

// Sent is not called either.
func (s *fq) Sent(time.Duration, int, int) {}

func (s *fq) push(l *fqList, i int32) {
	if l.count == 0 {
		l.first = i
	} else {
		s.queues[l.last].next = i
	}
	l.last = i
	l.count++
}

func (s *fq) pop(l *fqList) int32 {
	i := l.first
	l.first = s.queues[i].next
	l.count--
	return i
}
