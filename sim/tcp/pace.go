package tcp

import "time"

// pace is how soon a receiver acknowledges, by Linux's rules. Names in brackets
// are those of Linux 6.1.
type pace struct {
	quick  int           // how many more segments are acknowledged at once (icsk_ack.quick)
	chatty bool          // data is answered by data, which acknowledges it (pingpong mode)
	last   time.Duration // when data came last
	some   bool          // any did
}

// came notes that data came. What begins, or begins again after a timeout's
// time, may be slow start, for which every acknowledgement counts
// (tcp_event_data_recv).
func (p *pace) came(now, rto time.Duration, most int) {
	if !p.some || now-p.last > rto {
		p.quick = max(p.quick, most)
	}
	p.last, p.some = now, true
}

// answered notes that data is sent (tcp_event_data_sent).
func (p *pace) answered(now, delay time.Duration) {
	p.chatty = p.chatty || p.some && now-p.last < delay
}

// hasty tells whether the next segment is to be acknowledged at once.
func (r *receiver) hasty() bool { return r.pace.quick > 0 && !r.pace.chatty }

// delayed is when an acknowledgement has been delayed for long enough: data is
// not answered by data.
func (e *Endpoint) delayed(now time.Duration) {
	e.rcv.pace.chatty = false
	e.acknowledge(now)
}
