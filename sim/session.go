package sim

import (
	"math"
	"slices"
	"time"

	"aqmlab/collectors/meter"
	"aqmlab/sim/tcp"
	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// Lengths of a request, and of the header before a response's payload, as on real
// hosts.
const (
	requestBytes = 104
	headerBytes  = 24
)

// idle is the flow of a session that carries none.
const idle = -1

// ends are the hosts of a connection, and what they speak on it.
type ends struct{ client, server, transport int32 }

// numbers tell the n-th connection of the ends from others, for its hash.
func (e ends) numbers(n int) []uint64 {
	all := []uint64{uint64(e.client), uint64(e.server), uint64(n)}
	if e.transport > 0 {
		all = append(all, uint64(e.transport))
	}
	return all
}

// endpoint is one end of a connection, whatever transport it speaks.
type endpoint interface {
	talker
	info(now time.Duration) senderInfo
}

// talker is what moves data.
type talker interface {
	Write(now time.Duration, bytes int64, tag tcp.Tag)
	Receive(now time.Duration, k *packet.Packet)
	Stop(now time.Duration) // drops what has not been sent
	Release()
}

// session is a connection between a client and a server. It carries one flow
// at a time: a request and the response to it, or what the server pushes.
//
// What a packet looks at first comes first, in one cache line.
type session struct {
	conn           int32 // number that its packets carry, see [sessions]
	pair           ends
	client, server endpoint

	sim     *Simulation
	speaker *speaker
	hash    uint32 // of its packets, for ECMP
	pushed  bool   // its flow starts at the server
	once    bool   // it ends with its flow

	flow    int   // index of the record, or idle
	line    int   // of the meter, for its payload
	request int64 // bytes of the request that have yet to come
	header  int64 // bytes of the response's header that have yet to come
	unsent  int64 // payload that the server has yet to write
	left    int64 // payload that has yet to come
	acked   bool  // the server knows that all it wrote has come
	ended   bool  // every byte has come; the server may not know
	stopped bool  // the server writes no more

	message int64         // payload of the present message that the flows before have had, see [traffic.Tagging]
	wrote   time.Duration // when the server last wrote
	drained bool          // the server has written, and all of it is acknowledged

	flown           int   // flow whose account is open, or idle: the last one, after its end
	resent, expired int64 // what both ends had counted when it was opened

	feed  *event.Timer // next write of an application with a rate
	clock units.Clock
	stop  *event.Timer // end of an application that does not send for ever
}

// begin starts a flow.
func (s *session) begin(now time.Duration, index int) {
	s.account()
	s.flown = index
	f := &s.sim.config.Flows[index]
	s.flow, s.left, s.unsent = index, f.Bytes, f.Bytes
	s.request, s.header = requestBytes, headerBytes
	s.acked, s.ended, s.stopped, s.clock = false, false, false, units.Clock{}
	s.line = s.sim.services.Line(meter.Of(&s.sim.records[index]))
	tag := s.sim.tags.from(f, 0, 0)
	s.speaker.label(s, tag.DSCPs[0])
	if f.Stop > 0 {
		s.sim.loop.Schedule(s.stop, f.Stop)
	}
	if f.Push {
		s.request, s.header = 0, 0
		s.write(now)
		return
	}
	s.client.Write(now, requestBytes, tag)
}

// account adds the retransmissions of both ends to the record of the session's last
// flow. It counts from the beginning of the flow until now, because an end may still
// retransmit after the last byte has arrived.
func (s *session) account() {
	if s.client == nil {
		return // what it counted was added when it was closed
	}
	now := s.sim.loop.Now()
	there, here := s.client.info(now), s.server.info(now)
	resent, expired := there.resent+here.resent, there.timeouts+here.timeouts
	if s.flown != idle {
		r := &s.sim.records[s.flown]
		r.Retransmits += resent - s.resent
		r.Timeouts += expired - s.expired
	}
	s.resent, s.expired = resent, expired
}

// asked takes bytes of the request that reached the server.
func (s *session) asked(now time.Duration, n int64) {
	if s.request -= n; s.request == 0 && !s.stopped {
		s.write(now)
	}
}

// write is the server's application: it sends all it has at once, or with a
// rate a segment at a time.
func (s *session) write(now time.Duration) {
	f := &s.sim.config.Flows[s.flow]
	first := s.unsent == f.Bytes
	n := s.unsent
	if f.Rate > 0 {
		n = min(n, s.speaker.chunk)
	}
	if first && s.drained && now-s.wrote > s.sim.config.Tagging.Gap {
		s.message = 0
	}
	tag := s.sim.tags.from(f, s.message, f.Bytes-s.unsent)
	s.unsent -= n
	s.acked, s.drained, s.wrote = false, false, now
	if s.unsent > 0 {
		s.sim.loop.Schedule(s.feed, s.clock.Transmit(now, int(n), f.Rate, !first))
	}
	if first {
		n += s.header
	}
	s.server.Write(now, n, tag)
}

// answered takes bytes that reached the client.
func (s *session) answered(now time.Duration, n int64) {
	s.sim.moved = now
	if s.header > 0 {
		taken := min(n, s.header)
		s.header -= taken
		n -= taken
	}
	s.sim.services.Add(now, s.line, n)
	s.left -= n
	if s.left == 0 {
		s.end(now)
	}
}

// confirmed is called when everything that the server wrote is acknowledged.
func (s *session) confirmed(now time.Duration) {
	s.acked, s.drained = true, true
	switch {
	case s.ended && s.once:
		s.sim.leave(s)
	case s.stopped && !s.ended:
		s.end(now)
	}
}

// quit stops an application before it has sent everything. Packets under way still
// arrive.
func (s *session) quit(now time.Duration) {
	s.stopped = true
	s.sim.loop.Cancel(s.feed)
	s.server.Stop(now)
	if s.acked {
		s.end(now)
	}
}

// Established has nothing to do: what waited for the handshake is sent.
func (s *session) Established(time.Duration) {}

// Failed closes a connection that one of its ends has given up. A flow on it that is
// not over has failed.
func (s *session) Failed(time.Duration) {
	s.sim.loop.Cancel(s.feed)
	s.sim.loop.Cancel(s.stop)
	if s.flow != idle && !s.ended {
		s.sim.failed(s)
	}
	if !s.once {
		s.sim.sessions.drop(s)
	}
	s.sim.leave(s)
}

// end records the flow. A persistent connection is free for the next one.
func (s *session) end(now time.Duration) {
	s.sim.loop.Cancel(s.stop)
	s.sim.ended(now, s)
	s.ended = true
	switch {
	case !s.once:
		if s.sim.config.Tagging.Gap > 0 {
			s.message += s.sim.config.Flows[s.flow].Bytes - s.unsent
		}
		s.flow = idle
	case s.acked:
		s.sim.leave(s)
	}
}

// sessions holds the connections of a simulation: those in use by the number
// that their packets carry, those of persistent pairs in the order in which
// they were opened, and closed ones for reuse. Its size is bound by how many
// are open at once, not by how many there have been.
type sessions struct {
	slots []*session
	free  []*session
	pairs map[ends][]*session
	seed  uint64
}

// A packet carries the slot of its connection in the low bits of Conn and the
// slot's generation above, so that a straggler of a closed connection is not
// taken for one of the next.
const (
	slotBits = 20
	maxSlots = 1 << slotBits
	genMask  = 1<<(31-slotBits) - 1
)

// find is the session that a packet belongs to, or nil when that is closed.
func (l *sessions) find(conn int32) *session {
	if s := l.slots[conn&(maxSlots-1)]; s.conn == conn {
		return s
	}
	return nil
}

// take is an idle session between a pair, or nil.
func (l *sessions) take(pair ends) *session {
	for _, s := range l.pairs[pair] {
		if s.flow == idle {
			return s
		}
	}
	return nil
}

// keep adds a session to those of its pair, and returns how many these are.
func (l *sessions) keep(s *session) int {
	l.pairs[s.pair] = append(l.pairs[s.pair], s)
	return len(l.pairs[s.pair])
}

// drop takes a session from those of its pair.
func (l *sessions) drop(s *session) {
	l.pairs[s.pair] = slices.DeleteFunc(l.pairs[s.pair], func(o *session) bool { return o == s })
}

// get is a closed session, or a new one.
func (l *sessions) get(owner *Simulation) *session {
	if n := len(l.free); n > 0 {
		s := l.free[n-1]
		l.free = l.free[:n-1]
		return s
	}
	if len(l.slots) == maxSlots {
		panic("a million connections are open at once")
	}
	s := &session{sim: owner, conn: int32(len(l.slots)), flow: idle, flown: idle}
	s.feed = event.NewTimer(s.write)
	s.stop = event.NewTimer(s.quit)
	l.slots = append(l.slots, s)
	return s
}

// put takes back a session that is closed.
func (l *sessions) put(s *session) {
	slot, gen := s.conn&(maxSlots-1), s.conn>>slotBits
	s.conn = (gen+1)&genMask<<slotBits | slot
	l.free = append(l.free, s)
}

// hash spreads connections over equal paths. It depends on what the connection
// is for and not on when it was opened, so that all schemes get the same paths.
func (l *sessions) hash(parts ...uint64) uint32 {
	h := l.seed
	for _, p := range parts {
		h = mix(h ^ mix(p+1))
	}
	return uint32(h >> 32)
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): every
// input bit changes every output bit with probability about a half.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// tags hold the DSCPs of every service's bytes, so that no flow makes its own.
type tags struct {
	tagging  traffic.Tagging
	services []tcp.Tag // of bytes from the beginning of a message on
	fixed    []uint8   // fixed[d:d+1] are the DSCPs of a tag that is d throughout
}

func newTags(t traffic.Tagging, services int) *tags {
	g := &tags{tagging: t}
	var thresholds []int64
	for _, b := range t.Thresholds {
		thresholds = append(thresholds, int64(b))
	}
	for service := range services {
		tag := tcp.Tag{Thresholds: thresholds}
		for at := int64(0); at < math.MaxInt64; at = t.Until(at) {
			tag.DSCPs = append(tag.DSCPs, t.DSCP(service, at))
		}
		g.services = append(g.services, tag)
	}
	for d := range traffic.MaxDSCP + 1 {
		g.fixed = append(g.fixed, uint8(d))
	}
	return g
}

// from is the tag of the bytes that a flow sends from an offset on, and of which its
// message has had some before the flow. The tag of offset zero changes at the
// thresholds. Later writes are one segment long, so one DSCP is enough for them.
func (g *tags) from(f *traffic.Flow, before, offset int64) tcp.Tag {
	if own, ok := g.tagging.Own[f.Transport]; ok {
		return tcp.Tag{DSCPs: g.fixed[own : own+1]}
	}
	if offset == 0 {
		tag := g.services[f.Service]
		tag.Offset = before
		return tag
	}
	d := g.tagging.DSCP(f.Service, before+offset)
	return tcp.Tag{DSCPs: g.fixed[d : d+1]}
}
