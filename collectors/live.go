package collectors

import (
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/switch/times"
)

// Live counts what becomes of the packets of every queue, from the beginning on, so that
// somebody may look at it at any time. It keeps no samples, so a network may run for as
// long as it likes. The zero value is ready.
type Live struct {
	network *fabric.Network
	ports   [][]*liveQueue // by port and queue; nil where no packet was
}

// liveQueue is what became of the packets of one queue.
type liveQueue struct {
	QueueLook
	waited *times.Histogram
}

// waitedPrecision tells sojourn times apart that differ by a 64th of themselves.
const waitedPrecision = 6

// QueueLook is a queue as it is, and what it has counted since the network began.
type QueueLook struct {
	Switch, Port string
	Queue        int
	Bytes        int // in the queue
	Packets      int // the same
	Fates        [port.Fates]int64
	SentBytes    int64         // of the network layer
	Waited       time.Duration // sojourn times of all packets that were sent
	Times        times.Counts  // the same, each to a 64th
}

// Look is what a network looks like at one lab time.
type Look struct {
	At     time.Duration
	Queues []QueueLook        // all, in the order of ports
	Lost   []fabric.LossCount // by links that may lose packets
}

// Attach starts counting.
func (c *Live) Attach(_ *event.Loop, network *fabric.Network) {
	c.network = network
	c.ports = make([][]*liveQueue, len(network.Ports()))
	for i, p := range network.Ports() {
		p.Watch(func(now time.Duration, q int, k *packet.Packet, f port.Fate) {
			queues := c.ports[i]
			if q >= len(queues) || queues[q] == nil {
				queues = c.grow(i, q)
			}
			queues[q].count(now-k.Enqueued, k, f)
		})
	}
}

// grow makes room for a queue of a port.
func (c *Live) grow(i, q int) []*liveQueue {
	p := c.network.Ports()[i]
	for len(c.ports[i]) <= q {
		c.ports[i] = append(c.ports[i], nil)
	}
	c.ports[i][q] = &liveQueue{QueueLook{Switch: p.Switch, Port: p.Far, Queue: q}, times.New(waitedPrecision)}
	return c.ports[i]
}

// count counts a packet that is gone, after it has waited.
func (q *liveQueue) count(waited time.Duration, k *packet.Packet, f port.Fate) {
	q.Fates[f]++
	if f.Dropped() {
		return
	}
	q.SentBytes += int64(k.Size)
	q.Waited += waited
	q.waited.Note(waited)
}

// Look looks at the network. It is called on the network's event loop.
func (c *Live) Look(now time.Duration) Look {
	look := Look{At: now, Lost: c.network.Lost()}
	for i, p := range c.network.Ports() {
		for q := range max(p.Queues(), len(c.ports[i])) {
			l := QueueLook{Switch: p.Switch, Port: p.Far, Queue: q}
			if q < len(c.ports[i]) && c.ports[i][q] != nil {
				l = c.ports[i][q].QueueLook
				l.Times = c.ports[i][q].waited.Counts()
			}
			if q < p.Queues() {
				l.Bytes, l.Packets = p.QueueBytes(q), p.QueuePackets(q)
			}
			look.Queues = append(look.Queues, l)
		}
	}
	return look
}
