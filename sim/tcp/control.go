package tcp

import (
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen/transport"
)

// Family is a congestion control as [Controls] makes it: what all endpoints of
// a stack have of it in common.
type Family struct {
	make   func() control
	echo   echo
	data   packet.ECN // of segments with payload sent for the first time
	others packet.ECN // of SYNs, pure ACKs, and what is sent again
	grows  bool       // on an echo that follows another, which RFC 3168 has not
}

// echo is how a receiver answers marks.
type echo uint8

const (
	echoNever    echo = iota
	echoUntilCWR      // RFC 3168, section 6.1.3
	echoExactly       // RFC 8257, section 3.2
)

// control decides how large the window is. It does not decide when a window is
// cut: at most once a window of data.
type control interface {
	// open forgets the connection before.
	open()
	// acked is told of every acknowledgement of new data.
	acked(w *window, a ack)
	// cut sets window and slow-start threshold after a congestion event. After a
	// timeout it sets the threshold only.
	cut(w *window, e congestion)
	// markedShare is the estimated share of marked bytes, 0 to 1. It is below zero
	// for a control that estimates none.
	markedShare() float64
}

// ack is an acknowledgement of new data.
type ack struct {
	now    time.Duration // lab time, less the time in which the window was not what limited the sender
	rtt    time.Duration // smoothed
	bytes  int64         // newly acknowledged
	una    int64         // all acknowledged
	nxt    int64         // all sent
	marked bool          // it carries an ECN echo
	grow   bool          // the window may grow
}

// congestion is a congestion event.
type congestion struct {
	cause  cause
	flight int64 // bytes sent and not acknowledged, without those of limited transmit
	again  bool  // this window of data has been cut already, for a mark
}

type cause uint8

const (
	lost cause = iota
	marked
	timedOut
)

// Controls lists the congestion controls.
//
// Without ECN (reno, cubic) no packet is ECN-capable. ecn-star follows RFC 3168:
// only data that is sent for the first time is. With dctcp every segment is:
// RFC 8257, section 3.6, asks for it on SYNs, since switches drop what they
// cannot mark; it says nothing of pure ACKs and of data that is sent again, which
// Linux, followed here, sends so too. A mark on a segment without payload is
// ignored.
func Controls() kind.Table[struct{}, Family] {
	return kind.Table[struct{}, Family]{
		kind.Row("dctcp", "cut the window by the share of marked packets (RFC 8257)", transport.DefaultDCTCP(), newDCTCP),
		kind.Row("ecn-star", "Reno that treats a mark like a loss, at most once a window (RFC 3168)", transport.DefaultECNStar(), newECNStar),
		kind.Row("reno", "Reno without ECN (RFC 5681)", struct{}{}, newReno),
		kind.Row("cubic", "CUBIC without ECN (RFC 9438)", Cubic{Beta: 0.7, C: 0.4, FastConvergence: true}, newCubic),
	}
}
