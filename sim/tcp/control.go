package tcp

import (
	"time"

	"aqmlab/switch/packet"
)

// Family is a congestion control as [Controls] makes it: what all endpoints of
// a stack have of it in common.
type Family struct {
	make   func() control
	echo   echo
	data   packet.ECN // of segments with payload sent for the first time
	others packet.ECN // of SYNs, pure ACKs, and what is sent again
	grows  bool       // on an echo that follows another, which RFC 3168 has not
	prompt bool       // receivers acknowledge every segment at once

	metered bool // it goes by the rate of delivery; needs RACK or [SACKPRR]
}

// echo is how a receiver answers marks.
type echo uint8

const (
	echoNever    echo = iota
	echoUntilCWR      // RFC 3168, section 6.1.3
	echoExactly       // RFC 8257, section 3.2
	echoCounts        // RFC 9768; for controls that steer
)

// flagged tells whether the echo is the flag ECE, so that CWR answers it.
func (x echo) flagged() bool { return x == echoUntilCWR || x == echoExactly }

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
	at     time.Duration // lab time
	rtt    time.Duration // smoothed
	sample time.Duration // the round trip that it tells of
	bytes  int64         // newly acknowledged
	una    int64         // all acknowledged
	nxt    int64         // all sent
	marked bool          // it carries an ECN echo
	grow   bool          // the window may grow
}

// congestion is a congestion event.
type congestion struct {
	cause    cause
	flight   int64 // bytes sent and not acknowledged, without those of limited transmit
	una      int64 // all acknowledged
	timeouts int   // expiries in a row, this one included
	again    bool  // this window of data has been cut already, for a mark
}

type cause uint8

const (
	lost cause = iota
	marked
	timedOut
)
