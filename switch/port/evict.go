package port

import (
	"time"

	"aqmlab/switch/packet"
	"aqmlab/switch/sched"
)

// pushesOut has the scheduler push packets out until one that arrives has room. It reports
// false when that one is to be dropped: the scheduler pushes nothing out, or it is not for
// lack of room that the buffer refuses it.
func (p *Port) pushesOut(now time.Duration, a Arrival) bool {
	e, ok := p.scheduler.(sched.Evictor)
	if !ok {
		return false
	}
	for !p.memory.fits(a.Size) {
		if !p.evict(now, e.Evict(a.Packet)) {
			return false
		}
	}
	a.Bytes = p.queues[a.Queue].Bytes()
	return p.memory.admits(now, a)
}

// evict drops what the scheduler pushed out, and reports false when that is nothing.
func (p *Port) evict(now time.Duration, k *packet.Packet) bool {
	for more := k; more != nil; {
		gone := more
		more, gone.Next = gone.Next, nil
		i, length := p.class(gone), p.lengths.Of(int(gone.Size))
		q := &p.queues[i]
		q.Remove(gone)
		q.Enqueued--
		q.DropsFull++
		p.bytes -= length
		p.memory.bytes -= length
		p.drop(now, i, gone, DroppedFull)
	}
	return k != nil
}
