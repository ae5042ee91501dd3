package tcp

import "time"

// meter measures at which rate the network delivers what a sender sends (delivery rate
// estimation, draft-cheng-iccrg-delivery-rate-estimation, with its names). It stands
// beside a [rack], by whose numbers it knows segments.
type meter struct {
	ring      []departure // of the segments in transit, by their numbers as there
	delivered int64       // bytes that are known to have arrived
	at        time.Duration
	first     time.Duration // when what arrived last was sent (first_sent_time)
	turn      int64         // of that
	gone      []gone        // what was found lost since the last acknowledgement
	limited   int64         // the application had too little to send, until more than so many bytes are delivered; zero: it has enough

	// Of the acknowledgement under way.

	some   bool      // it tells that something arrived
	newest departure // of what was sent last of that
	sent   time.Duration
}

// departure is what was known when a segment was sent.
type departure struct {
	delivered int64
	at        time.Duration // when that had been delivered
	first     time.Duration
	pipe      int64 // bytes under way with it (tx_in_flight)
	lost      int64 // bytes lost by then
	limited   bool
}

// gone is a segment that was found lost.
type gone struct {
	first, end int64
	pipe       int64 // bytes that were under way with it
	lost       int64 // bytes lost since it was sent, its own included
	limited    bool
}

// delivery is a sample of the rate.
type delivery struct {
	rate      float64 // bytes a second; zero: the acknowledgement gives no sample
	delivered int64   // bytes, over the time that the sample is of
	prior     int64   // bytes that had been delivered when what arrived last was sent
	total     int64   // bytes delivered so far
	pipe      int64   // bytes under way when what arrived last was sent
	lost      int64   // bytes lost since then
	limited   bool    // by what the application had to send
	some      bool    // something arrived
}

func (m *meter) reset() { *m = meter{ring: m.ring, gone: m.gone[:0]} }

// leaves notes that segment i of what is in transit was sent.
func (m *meter) leaves(now time.Duration, t *transit, i int) {
	if len(m.ring) != len(t.ring) {
		m.grow(t)
	}
	if s := t.get(i); t.pipe == s.end-s.first { // nothing else is under way
		m.first, m.at = now, now
	}
	*m.get(i) = departure{m.delivered, m.at, m.first, t.pipe, t.losses, m.limited > 0}
}

func (m *meter) get(i int) *departure { return &m.ring[i&(len(m.ring)-1)] }

// grow follows the transit, whose last segment is new.
func (m *meter) grow(t *transit) {
	larger := meter{ring: make([]departure, len(t.ring))}
	for i := t.head; len(m.ring) > 0 && i < t.tail-1; i++ {
		*larger.get(i) = *m.get(i)
	}
	m.ring = larger.ring
}

// arrives notes that segment i arrived.
func (m *meter) arrives(now time.Duration, s *segment, i int) {
	m.delivered += s.end - s.first
	m.at = now
	if m.some && s.turn <= m.turn {
		return
	}
	m.some, m.newest, m.sent = true, *m.get(i), s.at
	m.turn, m.first = s.turn, s.at
}

// loses notes that segment i was found lost, as one of so many bytes by now.
func (m *meter) loses(s *segment, i int, losses int64) {
	d := m.get(i)
	m.gone = append(m.gone, gone{s.first, s.end, d.pipe, losses - d.lost, d.limited})
}

// take is the sample of an acknowledgement. One over less than the shortest round trip is
// of data that was sent again without need, and gives none.
func (m *meter) take(shortest time.Duration, losses int64) delivery {
	if m.limited > 0 && m.delivered > m.limited {
		m.limited = 0
	}
	d := delivery{total: m.delivered}
	if !m.some {
		return d
	}
	m.some = false
	d.some, d.prior, d.limited = true, m.newest.delivered, m.newest.limited
	d.delivered, d.pipe, d.lost = m.delivered-d.prior, m.newest.pipe, losses-m.newest.lost
	if over := max(m.sent-m.newest.first, m.at-m.newest.at); over > 0 && over >= shortest {
		d.rate = float64(d.delivered) / over.Seconds()
	}
	return d
}

// lack notes that there is less to send than may be, with so much under way.
func (m *meter) lack(pipe int64) { m.limited = max(m.delivered+pipe, 1) }

// lacks tells the meter when all has been sent, nothing waits in the host, and more might
// be under way (CheckIfApplicationLimited). It is for the moment before more is written.
func (e *Endpoint) lacks(now time.Duration) {
	if m := e.rack.meter; m != nil && e.nxt == e.stream.end && e.uplink.leaves <= now && e.rack.pipe < e.win.cwnd && e.rack.lost == 0 {
		m.lack(e.rack.pipe)
	}
}
