// Package packet is what the switch knows of a packet: its header fields, and
// for real hosts the frame that carries them.
package packet

import "time"

// ECN is the two-bit ECN field of the IP header (RFC 3168, section 5).
type ECN uint8

// The ECN codepoints.
const (
	NotECT ECN = 0b00
	ECT1   ECN = 0b01
	ECT0   ECN = 0b10
	CE     ECN = 0b11
)

// Capable tells whether the transport understands a mark.
func (e ECN) Capable() bool { return e != NotECT }

// Packet is one packet on its way through the network. Modelled hosts fill in
// the header fields; for real hosts they are parsed from Frame, and a mark is
// written back to it. Packets come from a [Pool] and go back to it.
//
// Its size is that of three cache lines, which allocations of many then begin
// with one. A switch touches the first, a transport the second as well.
type Packet struct {
	Size int32  // network-layer length in bytes; what counts of it in queues, [Lengths] says
	Src  int32  // index of the sending host
	Dst  int32  // index of the destination host
	Hash uint32 // of the flow, for ECMP
	DSCP uint8  // six bits
	ECN  ECN

	PureACK bool // TCP segment with the ACK flag, no payload, and none of SYN, FIN and RST
	ECE     bool // ECN echo of a TCP segment (RFC 3168, section 6.1)

	Entry int32 // number of the port by which it entered the switch that it is in; set under flow control only

	Enqueued time.Duration // when it joined the queue that it waits in
	Due      time.Duration // when it reaches the far end of the link that carries it
	Behind   time.Duration // when the one behind it on that link does, if there is one

	Next *Packet // link of the list that the packet stands in

	Marked bool // by the port whose queue it waits in; valid until it leaves that port
	Answer bool // of RoCE to data: an acknowledgement or a notification, which hosts never hold back, as a pure ACK

	l3 uint8 // where the network-layer header starts in Frame
	l4 uint8 // where the TCP header starts in Frame

	Spent uint32 // nanoseconds that it waited at earlier switches whose schedulers count them; the largest number stands for longer

	Segment Segment // of a modelled packet

	Frame []byte // Ethernet frame without FCS; nil for a modelled packet
}

// Class is the number of its queue at a port with so many: its DSCP (TCN, section 5), or
// 0 for a DSCP that no queue stands for.
func (k *Packet) Class(queues int) int {
	if q := int(k.DSCP); q < queues {
		return q
	}
	return 0
}

// Classes is the queue that the packets of each DSCP have at a port, where that is not
// the queue of its number. A nil one is: [Packet.Class].
type Classes [64]uint8

// Of is the number of a packet's queue at a port with so many.
func (c *Classes) Of(k *Packet, queues int) int {
	if c == nil {
		return k.Class(queues)
	}
	return int(c[k.DSCP&63])
}

// Queue is a FIFO of packets, linked through them so that it never allocates.
// The zero Queue is empty and counts network-layer bytes.
type Queue struct {
	head, tail *Packet
	count      int32
	lengths    Lengths
	bytes      int
}

// NewQueue makes an empty queue whose bytes are of that sort.
func NewQueue(l Lengths) Queue { return Queue{lengths: l} }

// Push puts p at the tail.
func (q *Queue) Push(p *Packet) {
	p.Next = nil
	if q.tail == nil {
		q.head = p
	} else {
		q.tail.Next = p
	}
	q.tail = p
	q.count++
	q.bytes += q.lengths.Of(int(p.Size))
}

// Pop takes the head off, or returns nil when the queue is empty.
func (q *Queue) Pop() *Packet {
	p := q.head
	if p == nil {
		return nil
	}
	q.head = p.Next
	if q.head == nil {
		q.tail = nil
	}
	p.Next = nil
	q.count--
	q.bytes -= q.lengths.Of(int(p.Size))
	return p
}

// Replace puts p where the first packet of p's flow stands, and returns that one.
// When there is none, p goes to the tail.
func (q *Queue) Replace(p *Packet) *Packet {
	for at := &q.head; *at != nil; at = &(*at).Next {
		old := *at
		if old.Hash != p.Hash || old.Src != p.Src || old.Dst != p.Dst {
			continue
		}
		*at, p.Next, old.Next = p, old.Next, nil
		if q.tail == old {
			q.tail = p
		}
		q.bytes += q.lengths.Of(int(p.Size)) - q.lengths.Of(int(old.Size))
		return old
	}
	q.Push(p)
	return nil
}

// Add counts p, which stands elsewhere, and Remove no longer does.
func (q *Queue) Add(p *Packet) {
	q.count++
	q.bytes += q.lengths.Of(int(p.Size))
}

// Remove undoes [Queue.Add].
func (q *Queue) Remove(p *Packet) {
	q.count--
	q.bytes -= q.lengths.Of(int(p.Size))
}

// Stand makes the queue stand for so many packets, which are elsewhere, of so many bytes in
// all.
func (q *Queue) Stand(packets, bytes int) { q.count, q.bytes = int32(packets), bytes }

// Head is the next packet to leave, or nil.
func (q *Queue) Head() *Packet { return q.head }

// Len is the number of packets.
func (q *Queue) Len() int { return int(q.count) }

// Bytes is the sum of the packets' lengths.
func (q *Queue) Bytes() int { return q.bytes }

// Segment is the transport header of a modelled packet. Switches do not read
// it, except that a gate may cut the window (see [Packet.CutWindow]).
// Sequence numbers count payload bytes from zero and never wrap; flags take no
// sequence space.
type Segment struct {
	Conn  int32 // connection that it belongs to
	Len   int32 // payload bytes
	Seq   int64 // of the first payload byte
	Ack   int64 // next byte expected, when Flags has [ACK]
	Flags Flags

	// Blocks says how many of SACK are used, the most recent first (RFC 2018).
	Blocks uint8

	// ACE is the counter of marked packets of an end that speaks Accurate ECN (RFC 9768),
	// with [ACECounts] to say so; zero of others. The header has its low three bits (section
	// 3.2.2). The others stand for the option, which tells how often these have wrapped.
	ACE uint16

	// Window is how many bytes from Ack on the sender of the segment has room for;
	// zero when it does not say.
	Window int32

	// Stamp is the lab time of sending, and Echo the stamp of the segment that
	// is answered (timestamps option, RFC 7323); zero when there is none.
	Stamp, Echo time.Duration

	// Left is how many bytes the message has from Seq on, of what its sender has written,
	// and Before how many it has before Seq. The largest number stands for more. Without
	// payload both are zero.
	Left, Before uint32

	SACK [3]Block
}

// ACECounts is set in [Segment.ACE] of an end that counts marks. Below it are the bits of
// the counter.
const ACECounts = 1 << 15

// Block is a run of received bytes, from First up to but not including End.
type Block struct{ First, End int64 }

// Flags are the control bits of a segment. ECE stands in [Packet.ECE], where a
// switch may set it.
type Flags uint8

// The control bits that modelled transports use.
const (
	SYN Flags = 1 << iota
	ACK
	FIN
	PSH // the sender has no more to send now
	CWR // congestion window reduced (RFC 3168, section 6.1.2)
	CNP // congestion notification packet (DCQCN)
	REQ // an acknowledgement is asked for (RoCE, base transport header, bit A)
	NAK // with ACK: what came after Ack was refused (RoCE, sequence error)
)

// Pool hands out packets and takes them back, so that none is allocated per
// packet in steady state. The zero Pool hands out modelled packets. It is not
// safe for concurrent use.
type Pool struct {
	free  *Packet
	frame int // bytes of frame buffer that each packet has
	taken int
}

// slab is how many packets are made at once when the pool is empty.
const slab = 256

// NewPool returns a pool whose packets carry a frame buffer of that many bytes.
func NewPool(frame int) *Pool { return &Pool{frame: frame} }

// Get hands out a packet. A frame buffer has length zero; its other fields are
// as their last user left them, so that a caller pays only for what it sets.
func (p *Pool) Get() *Packet {
	if p.free == nil {
		p.grow()
	}
	k := p.free
	p.free, k.Next = k.Next, nil
	p.taken++
	return k
}

// Put takes a packet back. The caller must not use it any more.
func (p *Pool) Put(k *Packet) {
	if p.frame > 0 {
		k.Frame = k.Frame[:0]
	}
	k.Next = p.free
	p.free = k
	p.taken--
}

// Taken is the number of packets handed out and not yet given back.
func (p *Pool) Taken() int { return p.taken }

func (p *Pool) grow() {
	packets := make([]Packet, slab)
	buffers := make([]byte, slab*p.frame)
	for i := range packets {
		if p.frame > 0 {
			packets[i].Frame = buffers[i*p.frame : i*p.frame : (i+1)*p.frame]
		}
		packets[i].Next = p.free
		p.free = &packets[i]
	}
}
