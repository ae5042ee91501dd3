package collectors

import (
	"net/netip"
	"slices"
	"strconv"
	"time"

	"aqmlab/results"
	"aqmlab/switch/event"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
)

// CaptureSpec says what to capture. It is plain data.
type CaptureSpec struct {
	Ports []string // such as "s1:h1", the port of s1 towards h1; none: all
	Snap  int      // bytes of each frame that are kept
	Size  int      // bytes of the file after which no more packets come into it
}

// PortName is how a [CaptureSpec] calls the port of a node towards another.
func PortName(node, far string) string { return node + ":" + far }

// Capture writes the packets at ports into a file of the format pcapng: what
// enters the switch by a port's link, what leaves it there, and what the port
// drops. A comment says of a packet that it was marked or dropped there, and why.
// Times are those of the loop.
type Capture struct {
	spec   CaptureSpec
	addrs  []netip.Addr
	encode packet.Encode
	file   pcapng
	ports  []*tap
	last   time.Duration
	frame  []byte // of a modelled packet, used again for each
	note   []byte // comment, the same
}

// tap is what is captured at one port.
type tap struct {
	fabric.Port
	number        int
	seen, leftOut int64
}

// NewCapture prepares a capture in a network of those hosts. Modelled packets,
// which have no frame, are encoded for it.
func NewCapture(spec CaptureSpec, hosts []fabric.Host, encode packet.Encode) *Capture {
	c := &Capture{spec: spec, encode: encode}
	for _, h := range hosts {
		c.addrs = append(c.addrs, h.Addr)
	}
	return c
}

// Attach begins the capture of a network.
func (c *Capture) Attach(_ *event.Loop, network *fabric.Network) {
	c.file.section("aqmlab")
	for _, p := range network.Ports() {
		name := PortName(p.Switch, p.Far)
		if len(c.spec.Ports) > 0 && !slices.Contains(c.spec.Ports, name) {
			continue
		}
		t := &tap{Port: p, number: len(c.ports)}
		c.ports = append(c.ports, t)
		c.file.iface(name, c.spec.Snap)
		p.Watch(func(now time.Duration, q int, k *packet.Packet, f port.Fate) { c.left(now, t, q, k, f) })
		p.WatchEntries(func(now time.Duration, k *packet.Packet) {
			c.add(t, record{at: now, direction: dirInbound}, k)
		})
	}
}

// left takes a packet that leaves a port or is dropped there.
func (c *Capture) left(now time.Duration, t *tap, q int, k *packet.Packet, f port.Fate) {
	r := record{at: now, direction: dirOutbound, queue: q}
	if f != port.Sent {
		r.comment = c.comment(now, t, q, k, f)
	}
	c.add(t, r, k)
}

// comment says what was done to a packet, and in what state its queue was.
func (c *Capture) comment(now time.Duration, t *tap, q int, k *packet.Packet, f port.Fate) []byte {
	b := append(c.note[:0], fateText(f)...)
	b = append(b, ": queue "...)
	b = strconv.AppendInt(b, int64(q), 10)
	b = append(b, " holds "...)
	b = strconv.AppendInt(b, int64(t.QueueBytes(q)), 10)
	b = append(b, " bytes, the port "...)
	b = strconv.AppendInt(b, int64(t.Bytes()), 10)
	if f != port.DroppedFull && f != port.DroppedOnArrival {
		b = append(b, ", waited "...)
		b = strconv.AppendInt(b, int64(now-k.Enqueued), 10)
		b = append(b, " ns"...)
	}
	c.note = b
	return b
}

func fateText(f port.Fate) string {
	switch f {
	case port.MarkedOnArrival:
		return "CE set on arrival"
	case port.MarkedOnDeparture:
		return "CE set on departure"
	case port.DroppedFull:
		return "dropped, no room in the buffer"
	case port.DroppedOnArrival:
		return "dropped by the scheme on arrival"
	default:
		return "dropped by the scheme on departure"
	}
}

// add writes a packet, if the file is not full.
func (c *Capture) add(t *tap, r record, k *packet.Packet) {
	t.seen++
	c.last = r.at
	if c.file.size >= c.spec.Size {
		t.leftOut++
		return
	}
	r.iface, r.length = t.number, len(k.Frame)
	frame := k.Frame
	if frame == nil {
		c.frame = c.encode(c.frame[:0], k, packet.Addrs{Src: c.addrs[k.Src], Dst: c.addrs[k.Dst]})
		frame, r.length = c.frame, packet.EthernetSize+int(k.Size)
	}
	c.file.packet(r, frame[:min(len(frame), c.spec.Snap)])
}

// End ends the capture and returns the file, which is none without any port.
func (c *Capture) End() results.Capture {
	var sum results.Capture
	if len(c.ports) == 0 {
		return sum
	}
	for _, t := range c.ports {
		c.file.statistics(t.number, c.last, t.seen, t.leftOut)
		sum.Packets += t.seen - t.leftOut
		sum.LeftOut += t.leftOut
	}
	sum.Chunks = c.file.chunks
	return sum
}
