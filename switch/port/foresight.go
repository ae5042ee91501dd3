package port

import (
	"time"

	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/switch/sched"
)

// Foresight runs a port about whose packets all is decided when they arrive, and which
// leave in that order. It tells on arrival when each will leave. So nothing has to happen
// at that time: no event, and no second look at the packet.
//
// It has what is read of such a port in two cache lines. The zero Foresight is that of a
// port that has none.
type Foresight struct {
	departures
	port  *Port
	room  int // bytes of the memory
	bytes int // in the queue
	over  int // bytes above which packets are marked

	arriving bool // that counts the packet that arrives
	lengths  packet.Lengths
	peak     int           // longest that the queue has been since Settle
	longest  time.Duration // that a packet waited, of those that have left since then

	// Of all packets that were planned, those that have yet to leave included.

	planned   int64
	sentBytes int64
	waited    time.Duration
}

// Foresee returns what runs the port from now on, in place of Enqueue and Dequeue, where it
// need not take a look at packets when they leave. It is for a port that is empty, and that
// nobody will watch or change.
func (p *Port) Foresee() Foresight {
	scheme, ok := p.scheme.(aqm.Foreseeable)
	if !ok || !sched.IsFIFO(p.scheduler) {
		return Foresight{}
	}
	cutoff, ok := scheme.Foresee()
	if m := &p.memory; !ok || !m.own || m.limit != nil || p.extras != nil || p.turns != nil || p.watch != nil || p.bytes > 0 {
		return Foresight{}
	}
	c := &p.queues[0].Count
	return Foresight{port: p, room: p.memory.size, over: cutoff.Over, arriving: cutoff.Arriving, lengths: p.lengths, planned: c.Sent, sentBytes: c.SentBytes, waited: c.Waited}
}

// On tells whether the port is run by this.
func (f *Foresight) On() bool { return f.port != nil }

// Plan takes a packet that arrives at now, before any that leaves at now. The link will
// have sent all that was planned at the time free. start is when the packet leaves. It
// reports false when the packet was dropped.
func (f *Foresight) Plan(now, free time.Duration, k *packet.Packet) (start time.Duration, ok bool) {
	if f.count > 0 {
		f.leave(now)
	}
	length := f.lengths.Of(int(k.Size))
	after := f.bytes + length
	if after > f.room {
		f.port.queues[0].DropsFull++
		f.port.release(k)
		return 0, false
	}
	if f.bytes > f.over || f.arriving && after > f.over {
		apply(aqm.Mark, &f.port.queues[0].Count, k)
	}
	f.planned++
	f.sentBytes += int64(k.Size)
	f.peak = max(f.peak, after)
	if free <= now && f.count == 0 {
		return now, true
	}
	f.bytes = after
	f.waited += free - now
	f.push(departure{start: free, waited: free - now, size: k.Size})
	return free, true
}

// leave lets those go that have left before now.
func (f *Foresight) leave(now time.Duration) {
	for f.count > 0 {
		d := f.first()
		if d.start >= now {
			return
		}
		f.bytes -= f.lengths.Of(int(d.size))
		f.longest = max(f.longest, d.waited)
		f.pop()
	}
}

// Settle has the port tell what there is before anything leaves it at now.
func (f *Foresight) Settle(now time.Duration) {
	f.leave(now)
	p := f.port
	q := &p.queues[0]
	q.Sent, q.SentBytes, q.Waited = f.planned-int64(f.count), f.sentBytes, f.waited
	q.Enqueued = f.planned
	for i := range f.count {
		d := f.at(i)
		q.SentBytes -= int64(d.size)
		q.Waited -= d.waited
	}
	q.Stand(int(f.count), f.bytes)
	p.bytes, p.memory.bytes = f.bytes, f.bytes
	q.peak, q.longest = max(q.peak, f.peak), max(q.longest, f.longest)
	q.PeakBytes = max(q.PeakBytes, q.peak)
	f.peak, f.longest = f.bytes, 0
}

// departure is when a packet leaves that has to wait until then.
type departure struct {
	start  time.Duration
	waited time.Duration
	size   int32
}

// departures is a queue.
type departures struct {
	ring  []departure // whose length is a power of two
	head  uint32      // place of the first, modulo the length
	count uint32
}

// at is the departure behind so many others.
func (l *departures) at(i uint32) *departure { return &l.ring[int(l.head+i)&(len(l.ring)-1)] }

func (l *departures) first() *departure { return l.at(0) }

func (l *departures) pop() { l.head, l.count = l.head+1, l.count-1 }

func (l *departures) push(d departure) {
	if int(l.count) == len(l.ring) {
		l.grow()
	}
	*l.at(l.count) = d
	l.count++
}

func (l *departures) grow() {
	larger := departures{ring: make([]departure, max(4, 2*len(l.ring))), count: l.count}
	for i := range l.count {
		*larger.at(i) = *l.at(i)
	}
	*l = larger
}
