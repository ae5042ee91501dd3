package collectors

import (
	"time"

	"aqmlab/results"
	"aqmlab/switch/event"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/switch/times"
)

// Delays counts what becomes of the packets of every DSCP in every queue of switch ports,
// and how long they wait: each packet, not samples of the queue. Its memory does not
// depend on how many there are. The zero value is ready.
type Delays struct {
	network *fabric.Network
	ports   [][]*classCount // by port, and then by queue and DSCP; nil where no packet was
}

// classCount is what became of the packets of a DSCP in a queue.
type classCount struct {
	results.ClassCount
	waited *times.Histogram
}

// delayPrecision tells sojourn times apart that differ by a 32nd of themselves.
const delayPrecision = 5

// dscps is how many values a DSCP has.
const dscps = 64

// Attach starts counting.
func (c *Delays) Attach(_ *event.Loop, network *fabric.Network) {
	c.network, c.ports = network, make([][]*classCount, len(network.Ports()))
	for i, p := range network.Ports() {
		p.Watch(func(now time.Duration, q int, k *packet.Packet, f port.Fate) {
			classes, at := c.ports[i], q*dscps+int(k.DSCP)
			if at >= len(classes) || classes[at] == nil {
				classes = c.grow(i, q, int(k.DSCP))
			}
			classes[at].count(now-k.Enqueued, k, f)
		})
	}
}

// grow makes room for a DSCP in a queue of a port.
func (c *Delays) grow(i, q, dscp int) []*classCount {
	p, at := c.network.Ports()[i], q*dscps+dscp
	for len(c.ports[i]) <= at {
		c.ports[i] = append(c.ports[i], nil)
	}
	c.ports[i][at] = &classCount{results.ClassCount{Switch: p.Switch, Port: p.Far, Queue: q, DSCP: dscp}, times.New(delayPrecision)}
	return c.ports[i]
}

// count counts a packet that is gone, after it has waited.
func (c *classCount) count(waited time.Duration, k *packet.Packet, f port.Fate) {
	switch f {
	case port.DroppedFull:
		c.DropsFull++
		return
	case port.DroppedOnArrival, port.DroppedOnDeparture:
		c.DropsScheme++
		return
	case port.MarkedOnArrival, port.MarkedOnDeparture:
		c.Marked++
	}
	c.Sent++
	c.SentBytes += int64(k.Size)
	c.Waited += waited
	c.waited.Note(waited)
}

// End is what was counted until now, by port, queue and DSCP.
func (c *Delays) End() (classes []results.ClassCount, delays []results.DelayCount) {
	for _, p := range c.ports {
		for _, k := range p {
			if k == nil {
				continue
			}
			k.Longest = k.waited.Longest()
			classes = append(classes, k.ClassCount)
			k.waited.Counts().Each(func(upTo time.Duration, n int64) {
				delays = append(delays, results.DelayCount{
					Switch: k.Switch, Port: k.Port, Queue: int32(k.Queue), DSCP: int32(k.DSCP), UpTo: upTo, Packets: n,
				})
			})
		}
	}
	return classes, delays
}

var _ fabric.Collector = (*Delays)(nil)
