package tcp

import (
	"time"

	"aqmlab/switch/packet"
)

// Receive is how a receiver offers room. It is what Linux does: a window that
// begins with half of the socket's buffer and grows with what the application
// is seen to read in a round trip (dynamic right-sizing, [Fisk and Feng]).
//
// [Fisk and Feng]: Dynamic Right-Sizing in TCP, LACSI 2001
type Receive struct {
	Buffer int64 // memory that a connection begins with (the second of tcp_rmem); zero: any number of bytes may be outstanding
	Most   int64 // memory that it may grow to (the third of tcp_rmem); at least Buffer
	ReadAt int64 // bytes for which the application wakes up (SO_RCVLOWAT), besides the end of what was written
}

// first is the window that a connection begins with: half of the buffer, the
// other half being for the kernel's own data, less a segment in reserve
// (tcp_init_buffer_space).
func (c *Receive) first(mss int64) int64 { return c.Buffer/2 - mss }

// receiveBuffer is the memory of a receiver. Names in brackets are those of Linux 6.1.
type receiveBuffer struct {
	buffer  int64 // sk_rcvbuf
	clamp   int64 // the window grows up to it (window_clamp)
	window  int64 // what is offered when the memory is there (rcv_ssthresh)
	edge    int64 // first byte that was not offered
	unread  int64 // bytes in order that the application has not taken
	waiting int64 // segments that these came in

	rtt   time.Duration // as the receiver sees it, a millisecond at most without a reason (rcv_rtt_est); zero: not measured
	round struct {      // a window of data
		began time.Duration
		end   int64
	}
	echoed time.Duration // last stamp that came back, in whole milliseconds (rcv_rtt_last_tsecr)

	since time.Duration // when the reading under way was begun to be counted (rcvq_space)
	from  int64         // what had been read then
	most  int64         // bytes that were read in the busiest round trip
}

func (s *receiveBuffer) reset(now time.Duration, c *Receive, mss int64) {
	first := c.first(mss)
	*s = receiveBuffer{buffer: c.Buffer, clamp: first, window: first, edge: first, echoed: -1, since: now, most: min(first, 10*mss)}
}

// segmentMemory is what a full segment takes of the buffer: a power of two that
// holds the frame and what the kernel keeps behind it, and its descriptor.
func segmentMemory(payload, header int) int64 {
	const behind, descriptor = 384, 256
	n := int64(1)
	for n < int64(payload+header+behind) {
		n *= 2
	}
	return n + descriptor
}

// free is how much payload there is memory for (tcp_space).
func (s *receiveBuffer) free(memory int64) int64 { return (s.buffer - s.waiting*memory) / 2 }

// offer is the window to tell. What was offered stays so.
func (s *receiveBuffer) offer(next, memory int64) int64 {
	s.edge = max(s.edge, next+min(s.window, s.free(memory)))
	return s.edge - next
}

// grow widens the window by two segments for one that came, while there is
// memory (tcp_grow_window), and tells whether it did.
func (s *receiveBuffer) grow(mss, memory int64) bool {
	room := min(s.clamp, s.free(memory)) - s.window
	if room <= 0 {
		return false
	}
	s.window += min(room, 2*mss)
	return true
}

// observe measures the round trip: by what the sender echoes, in the
// milliseconds of Linux's stamps, and by the time that a window takes, which may
// only lower the estimate.
func (s *receiveBuffer) observe(now, echo time.Duration, next, told int64) {
	if e := echo.Truncate(time.Millisecond); e != s.echoed {
		s.echoed = e
		s.sample(max(now.Truncate(time.Millisecond)-e, time.Millisecond), false)
	}
	if s.round.began > 0 && next < s.round.end {
		return
	}
	if s.round.began > 0 {
		s.sample(now-s.round.began, true)
	}
	s.round.began, s.round.end = now, next+told
}

func (s *receiveBuffer) sample(rtt time.Duration, window bool) {
	switch {
	case s.rtt == 0 || rtt < s.rtt:
		s.rtt = rtt
	case !window:
		s.rtt += (rtt - s.rtt) / 8
	}
}

// read is the application taking all that came in order. If that is more than
// in any round trip before, the buffer grows to hold twice as much, and as much
// again as the growth lets expect (tcp_rcv_space_adjust).
func (s *receiveBuffer) read(now time.Duration, next, mss, most int64) {
	s.unread, s.waiting = 0, 0
	if s.rtt == 0 || now-s.since < s.rtt {
		return
	}
	if n := next - s.from; n > s.most {
		want := 2*n + 16*mss
		want += 2 * (want * (n - s.most) / s.most)
		if buffer := min(2*want, most); buffer > s.buffer {
			s.buffer, s.clamp = buffer, buffer/2
		}
		s.most = n
	}
	s.from, s.since = next, now
}

// buffered takes note of n bytes that came in order with a segment.
func (e *Endpoint) buffered(now time.Duration, s *packet.Segment, n int64) {
	r := &e.rcv
	r.acks.came(now, e.rtt.rto, e.stack.config.QuickAcks)
	if e.stack.config.Receive.Buffer == 0 {
		return
	}
	r.space.unread += n
	r.space.waiting++
	r.space.observe(now, s.Echo, r.next, r.space.edge-r.acked)
	e.widen(s)
}

// widen lets the window grow. As long as it does, segments are acknowledged at
// once.
func (e *Endpoint) widen(s *packet.Segment) {
	const least = 128 // bytes in a segment for which it grows
	if e.stack.config.Receive.Buffer > 0 && s.Len >= least && e.rcv.space.grow(e.stack.mss, e.stack.memory) && e.stack.config.QuickAcks > 0 {
		e.rcv.acks.quick |= 1
	}
}

// read lets the application read, if there is enough for it or the end of what
// was written.
func (e *Endpoint) read(now time.Duration, s *packet.Segment) {
	c, r := &e.stack.config.Receive, &e.rcv
	if c.Buffer > 0 && (r.space.unread >= c.ReadAt || s.Flags&packet.PSH != 0) {
		r.space.read(now, r.next, e.stack.mss, c.Most)
	}
}
