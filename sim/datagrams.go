package sim

import (
	"fmt"
	"time"

	"aqmlab/results"
	"aqmlab/sim/tcp"
	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// Datagrams are hosts that send UDP (RFC 768): traffic that does not respond to congestion
// (RFC 7928, section 5.3). The server sends at the rate of the flow's application from the
// start of the flow until it stops, whatever is lost or marked. Nothing is acknowledged or
// sent again. Requests take no time, and no packets: the server knows when to begin.
type Datagrams struct {
	Payload int // of a full datagram, in bytes
}

// linger is the lab time after its stop in which what a flow has sent may still come. It
// is longer than what buffers of switches hold for.
const linger = time.Second

// datagramHosts speak UDP.
type datagramHosts struct {
	sim      *Simulation
	send     func(now time.Duration, host int, k *packet.Packet)
	payload  int64
	counters []results.HostCount
}

var _ hosts = (*datagramHosts)(nil)

// newDatagrams makes hosts that speak UDP.
func newDatagrams(s *Simulation, c Datagrams, send func(time.Duration, int, *packet.Packet)) (*speaker, error) {
	if c.Payload <= 0 {
		return nil, fmt.Errorf("datagrams of %d bytes of payload", c.Payload)
	}
	h := &datagramHosts{sim: s, send: send, payload: int64(c.Payload), counters: make([]results.HostCount, len(s.config.Fabric.Hosts))}
	return &speaker{h, h.payload}, nil
}

func (h *datagramHosts) open(_ time.Duration, s *session, _ bool) {
	client := &datagrams{hosts: h, session: s, local: s.pair.client, remote: s.pair.server}
	server := &datagrams{hosts: h, session: s, local: s.pair.server, remote: s.pair.client, peer: client}
	server.settle = event.NewTimer(server.settled)
	s.client, s.server = client, server
}

// label does nothing: all packets have payload.
func (h *datagramHosts) label(*session, uint8) {}

func (h *datagramHosts) count(host int) results.HostCount { return h.counters[host] }

// stopped and rated do nothing: the uplink keeps what it is given meanwhile, and the
// application does not know.
func (h *datagramHosts) stopped(time.Duration, int, bool)     {}
func (h *datagramHosts) rated(time.Duration, int, units.Rate) {}

// datagrams is one end of a flow of datagrams.
type datagrams struct {
	hosts         *datagramHosts
	session       *session
	local, remote int32
	sent          int64         // payload
	came          time.Duration // when a datagram last did
	peer          *datagrams    // of the server: the client
	settle        *event.Timer  // of the server: nothing more comes
}

var _ endpoint = (*datagrams)(nil)

// Write sends bytes at once, or, at a client, has the server begin.
func (d *datagrams) Write(now time.Duration, bytes int64, tag tcp.Tag) {
	if d.peer == nil {
		d.session.asked(now, bytes)
		return
	}
	for left := bytes; left > 0; {
		n := min(left, d.hosts.payload)
		k := d.hosts.sim.pool.Get()
		k.Size, k.Src, k.Dst, k.Hash = int32(n+packet.UDPHeaders), d.local, d.remote, d.session.hash
		k.ECN, k.DSCP = packet.NotECT, tag.At(bytes-left)
		k.PureACK, k.ECE, k.Answer = false, false, false
		k.Segment = packet.Segment{Conn: d.session.conn, Len: int32(n), Seq: d.sent, Stamp: now, Left: uint32(left)}
		d.hosts.send(now, int(d.local), k)
		d.sent += n
		left -= n
	}
}

// Receive takes a datagram. A flow that is whole has nothing to wait for.
func (d *datagrams) Receive(now time.Duration, k *packet.Packet) {
	n := int64(k.Segment.Len)
	if k.ECN == packet.CE {
		d.hosts.counters[d.local].CEReceived++
	}
	d.hosts.sim.pool.Put(k)
	if d.peer != nil || d.session.flow == idle {
		return // a straggler
	}
	d.came = now
	s := d.session
	if s.answered(now, n); s.ended && !s.acked {
		s.server.(*datagrams).cancel()
		s.confirmed(now)
	}
}

// Stop has sent all: what is under way is waited for.
func (d *datagrams) Stop(now time.Duration) {
	if d.peer != nil {
		d.hosts.sim.loop.Schedule(d.settle, now+linger)
	}
}

// settled ends the flow as of its last datagram.
func (d *datagrams) settled(now time.Duration) {
	s := d.session
	if s.ended || s.flow == idle {
		return
	}
	if d.peer.came > 0 {
		now = d.peer.came
	}
	s.confirmed(max(now, d.hosts.sim.records[s.flow].Sent))
}

func (d *datagrams) cancel() {
	if d.settle != nil {
		d.hosts.sim.loop.Cancel(d.settle)
	}
}

// Release forgets what was to come.
func (d *datagrams) Release() { d.cancel() }

// info is the rate of the application: nobody has a window.
func (d *datagrams) info(time.Duration) senderInfo {
	s := results.SenderSample{Alpha: results.Unknown}
	if f := d.session.flow; f != idle {
		s.Rate = int64(d.hosts.sim.config.Flows[f].Rate)
	}
	return senderInfo{sample: s}
}
