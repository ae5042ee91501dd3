// Package port is the egress pipeline of one switch port: classify, admit to
// the shared buffer, marking on arrival, queue, scheduler, rate limiter,
// marking on departure.
//
// The order is that of TCN, section 5, and MQ-ECN, section 4.2. The port is
// handed the lab time; it never reads a clock, blocks, locks, or allocates per
// packet. What occupancies, buffers, thresholds and quanta count of a packet is its
// length, as the spec's [packet.Lengths] says. The limiter and the link count what it
// takes on the wire.
package port

import (
	"time"

	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/switch/sched"
	"aqmlab/units"
)

// Port is the egress side of one switch port. It is two cache lines, and so is
// each of its queues: a large network has more ports than near caches have room
// for.
type Port struct {
	scheme    aqm.Scheme
	queues    []queue
	bytes     int // in all queues
	memory    memory
	scheduler sched.Scheduler
	sending   int32 // size of the packet that is leaving
	lengths   packet.Lengths
	sorted    bool    // the scheduler is a [sched.Sorter], and holds the packets
	classed   bool    // it is a [sched.Classifier], too, and has the queues that the scheme knows
	choosy    bool    // and a [sched.Admitter]
	extras    *extras // nil without any
	turns     *turns  // nil when the scheme does not observe rounds
	release   func(*packet.Packet)
	watch     Watch // nil: none
}

// extras is what few ports have.
type extras struct {
	limiter *tokenBucket    // nil when off
	classes *packet.Classes // nil where a DSCP is the number of its queue
}

// queue is one queue of a port.
type queue struct {
	packet.Queue
	peak    int           // longest that it has been since TakePeak
	longest time.Duration // that a packet waited since TakeLongest
	Count
	_ [16]byte
}

// turns tells a scheme when the turns of queues end.
type turns struct {
	aqm.RoundObserver
	rate units.Rate // of the port
}

// Count adds up what happened to one queue's packets since the port was built.
type Count struct {
	Enqueued    int64 // that joined it, but for those that were pushed out again
	Sent        int64
	SentBytes   int64         // of the network layer
	Marked      int64         // CE set by this port
	DropsFull   int64         // the buffer had no room, or needed theirs
	DropsScheme int64         // the scheme said so
	PeakBytes   int           // longest that the queue has been
	Waited      time.Duration // in the queue, over all packets that were sent
}

func (p *Port) limiter() *tokenBucket {
	if p.extras == nil {
		return nil
	}
	return p.extras.limiter
}

// class is the number of a packet's queue.
func (p *Port) class(k *packet.Packet) int {
	if p.extras == nil {
		return k.Class(len(p.queues))
	}
	return p.extras.classes.Of(k, len(p.queues))
}

// turnEnded passes the end of a queue's turn on to a scheme that asks for it. A
// queue that emptied did so when its last packet began to leave.
func (p *Port) turnEnded(now time.Duration, q int, emptied bool) {
	if p.turns == nil {
		return
	}
	if emptied {
		now += p.turns.rate.Time(packet.OnWire(int(p.sending)))
	}
	p.turns.TurnEnded(now, q, emptied)
}

// Enqueue takes a packet that arrives at now: classify, admit, let the scheme
// decide, queue. It reports false when the packet was dropped.
func (p *Port) Enqueue(now time.Duration, k *packet.Packet) bool {
	i := p.class(k)
	q, length := &p.queues[i], p.lengths.Of(int(k.Size))
	k.Marked = false
	own, taken := i, true
	if p.classed {
		own = p.classifier().Queue(k)
		taken = !p.choosy || p.scheduler.(sched.Admitter).Admits(k, own)
	}
	if a := (Arrival{i, q.Bytes(), length, k}); !taken || !p.memory.admits(now, a) && !p.pushesOut(now, a) {
		q.DropsFull++
		p.drop(now, i, k, DroppedFull)
		return false
	}
	packets, bytes := q.Len(), q.Bytes()
	if p.classed {
		packets, bytes = p.classifier().Length(own)
	}
	// The view is made where it is passed. A copy would be read in larger pieces than it was
	// just written in, for which processors wait.
	if apply(p.scheme.Arrive(now, k, aqm.View{Queue: own, Packets: packets, Bytes: bytes, PortBytes: p.bytes, PoolBytes: p.memory.bytes}), &q.Count, k) {
		p.drop(now, i, k, DroppedOnArrival)
		return false
	}
	k.Enqueued = now
	if p.sorted {
		q.Add(k)
		p.sorter().Hold(now, own, k)
	} else {
		q.Push(k)
		p.scheduler.Enqueued(now, i, length)
	}
	p.bytes += length
	p.memory.bytes += length
	q.Enqueued++
	if q.Bytes() > q.peak {
		q.peak = q.Bytes()
		q.PeakBytes = max(q.PeakBytes, q.peak)
	}
	return true
}

// next is the packet that the scheduler chose, of queue q.
func (p *Port) next(q *queue) *packet.Packet {
	if p.sorted {
		return p.sorter().Head()
	}
	return q.Head()
}

// take takes the head, of queue i, from a scheduler that orders packets.
func (p *Port) take(now time.Duration, i int) *packet.Packet {
	k := p.sorter().Take(now)
	p.queues[i].Remove(k)
	return k
}

// sorter is the scheduler that holds the packets.
func (p *Port) sorter() sched.Sorter { return p.scheduler.(sched.Sorter) }

// classifier is the scheduler that has queues of its own.
func (p *Port) classifier() sched.Classifier { return p.scheduler.(sched.Classifier) }

// Dequeue takes the packet whose transmission starts at now. Without one, wait
// tells when to ask again: the packet that the scheduler chose lacks tokens
// until then (the choice is made anew when asked again). With neither, all
// queues are empty.
func (p *Port) Dequeue(now time.Duration) (k *packet.Packet, wait time.Duration) {
	for {
		i, ok := p.scheduler.Next(now)
		if !ok {
			return nil, 0
		}
		q := &p.queues[i]
		size := p.next(q).Size
		if limiter := p.limiter(); limiter != nil {
			if at := limiter.ready(now, packet.OnWire(int(size))); at > now {
				return nil, at
			}
		}
		length := p.lengths.Of(int(size))
		p.bytes -= length
		p.memory.bytes -= length
		p.sending = size
		var k *packet.Packet
		own := i
		if p.sorted {
			k = p.take(now, i)
			if p.classed {
				own = p.classifier().Taken()
			}
		} else {
			k = q.Pop()
			p.scheduler.Sent(now, i, length)
		}
		before, waited := k.Marked, now-k.Enqueued
		packets, bytes := q.Len(), q.Bytes()
		if p.classed {
			packets, bytes = p.classifier().Length(own)
		}
		if apply(p.scheme.Depart(now, k, aqm.View{Queue: own, Packets: packets, Bytes: bytes, PortBytes: p.bytes, PoolBytes: p.memory.bytes, Waited: waited}), &q.Count, k) {
			if r, ok := p.scheduler.(sched.Refunder); ok {
				r.Refund(k)
			}
			p.drop(now, i, k, DroppedOnDeparture)
			continue
		}
		if limiter := p.limiter(); limiter != nil {
			limiter.spend(now, packet.OnWire(int(size)))
		}
		q.Sent++
		q.SentBytes += int64(size)
		q.Waited += waited
		q.longest = max(q.longest, waited)
		if p.watch != nil {
			p.watch(now, i, k, fateOf(before, k.Marked))
		}
		return k, 0
	}
}

// apply carries out a verdict and reports whether the packet is to be dropped.
func apply(v aqm.Verdict, c *Count, k *packet.Packet) (gone bool) {
	switch {
	case v == aqm.Pass:
		return false
	case v == aqm.Drop, v == aqm.MarkOrDrop && !k.ECN.Capable():
		c.DropsScheme++
		return true
	}
	if k.ECN.Capable() && k.ECN != packet.CE {
		k.Mark()
		k.Marked = true
		c.Marked++
	}
	return false
}

// drop gets rid of a packet.
func (p *Port) drop(now time.Duration, q int, k *packet.Packet, why Fate) {
	if p.watch != nil {
		p.watch(now, q, k, why)
	}
	p.release(k)
}

// HeadSize is the length of the packet at the head of queue q, zero when it is
// empty, or its packets are held by the scheduler.
func (p *Port) HeadSize(q int) int {
	if k := p.queues[q].Head(); k != nil {
		return p.lengths.Of(int(k.Size))
	}
	return 0
}

// Estimates calls to for every estimate that the port's scheme makes from now on.
// It reports false when the scheme estimates nothing.
func (p *Port) Estimates(to func(now time.Duration, e aqm.Estimate)) bool {
	e, ok := p.scheme.(aqm.Estimator)
	if ok {
		e.Estimates(to)
	}
	return ok
}

// Queues is the number of queues.
func (p *Port) Queues() int { return len(p.queues) }

// Bytes is the number of bytes in all queues.
func (p *Port) Bytes() int { return p.bytes }

// QueueBytes is the number of bytes in queue q.
func (p *Port) QueueBytes(q int) int { return p.queues[q].Bytes() }

// QueuePackets is the number of packets in queue q.
func (p *Port) QueuePackets(q int) int { return p.queues[q].Len() }

// Count is what has been counted for queue q.
func (p *Port) Count(q int) Count { return p.queues[q].Count }

// TakePeak is the longest that queue q has been, in bytes, since TakePeak was
// last called.
func (p *Port) TakePeak(q int) int {
	peak := p.queues[q].peak
	p.queues[q].peak = p.queues[q].Bytes()
	return peak
}

// TakeLongest is the longest that a packet of queue q that was sent waited in it,
// since TakeLongest was last called.
func (p *Port) TakeLongest(q int) time.Duration {
	longest := p.queues[q].longest
	p.queues[q].longest = 0
	return longest
}

// Watch calls w for every packet from now on, when it leaves or is dropped, after those
// that watch already.
func (p *Port) Watch(w Watch) {
	before := p.watch
	if before == nil {
		p.watch = w
		return
	}
	p.watch = func(now time.Duration, q int, k *packet.Packet, f Fate) {
		before(now, q, k, f)
		w(now, q, k, f)
	}
}
