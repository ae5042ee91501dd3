package packet

import "time"

// Segment is the transport header of a modelled packet. Switches do not read
// it, except that a gate may read [Packet.PureACK] and set [Packet.ECE].
// Sequence numbers count payload bytes from zero and never wrap; flags take no
// sequence space.
type Segment struct {
	Conn  int32 // connection that it belongs to
	Len   int32 // payload bytes
	Seq   int64 // of the first payload byte
	Ack   int64 // next byte expected, when Flags has [ACK]
	Flags Flags
	// Window is how many bytes from Ack on the sender of the segment has room for;
	// zero when it does not say.
	Window int32

	// Stamp is the lab time of sending, and Echo the stamp of the segment that
	// is answered (timestamps option, RFC 7323); zero when there is none.
	Stamp, Echo time.Duration

	// Blocks says how many of SACK are used, the most recent first (RFC 2018).
	Blocks uint8
	SACK   [3]Block
}

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
