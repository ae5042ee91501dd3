package sim

import (
	"fmt"
	"time"

	"aqmlab/results"
	"aqmlab/sim/rdma"
	"aqmlab/sim/tcp"
	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// hosts are one transport of all hosts.
type hosts interface {
	// open makes the two ends of a session. With a handshake, the end that sends
	// first opens the connection, and data waits until it is open.
	open(now time.Duration, s *session, handshake bool)
	// label sets the DSCP of the session's packets without payload.
	label(s *session, dscp uint8)
	// count is what a host has counted, without its name.
	count(host int) results.HostCount
	// rated tells that the uplink of a host has another rate from now on.
	rated(now time.Duration, host int, rate units.Rate)
	// stopped tells that flow control has stopped the uplink of a host, or lets it
	// go on.
	stopped(now time.Duration, host int, stop bool)
}

// speaker is the hosts in so far as they speak one transport.
type speaker struct {
	hosts
	chunk int64 // payload of one segment: what an application with a rate writes at once
}

// learn makes the speakers of all transports.
func (s *Simulation) learn() error {
	for i, c := range append([]Speech{s.config.Speech}, s.config.Others...) {
		p, err := newSpeaker(s, c)
		if err != nil {
			return fmt.Errorf("transport %d: %w", i, err)
		}
		s.speakers = append(s.speakers, p)
	}
	for _, f := range s.config.Flows {
		if f.Transport < 0 || f.Transport >= len(s.speakers) {
			return fmt.Errorf("flow %d: transport %d is outside 0 to %d", f.ID, f.Transport, len(s.speakers)-1)
		}
		if _, unresponsive := s.speakers[f.Transport].hosts.(*datagramHosts); unresponsive && (f.Rate <= 0 || f.Stop <= 0) {
			return fmt.Errorf("flow %d: datagrams need a rate and a time to stop", f.ID)
		}
	}
	return nil
}

func newSpeaker(s *Simulation, p Speech) (*speaker, error) {
	send := s.network.Send
	if p.Codepoint.Set {
		send = func(now time.Duration, host int, k *packet.Packet) {
			k.ECN = p.Codepoint.Of(k.ECN, k.Segment.Len > 0)
			s.network.Send(now, host, k)
		}
	}
	if p.Datagrams != nil {
		return newDatagrams(s, *p.Datagrams, send)
	}
	if p.RDMA != nil {
		stack, err := rdma.NewStack(&s.loop, &s.pool, send, *p.RDMA)
		return &speaker{&rdmaHosts{stack}, int64(p.RDMA.Payload())}, err
	}
	c := *p.TCP
	c.Backlog = s.network.Backlog
	stack, err := tcp.NewStack(&s.loop, &s.pool, send, c)
	return &speaker{&tcpHosts{stack, make([]tcp.Counters, len(s.config.Fabric.Hosts))}, int64(c.MSS)}, err
}

// tcpHosts speak TCP.
type tcpHosts struct {
	stack    *tcp.Stack
	counters []tcp.Counters
}

func (h *tcpHosts) open(now time.Duration, s *session, handshake bool) {
	client, server := h.stack.Endpoint(), h.stack.Endpoint()
	s.client, s.server = segments{client}, segments{server}
	there := tcp.Ends{Local: s.pair.client, Remote: s.pair.server, Conn: s.conn, Hash: s.hash}
	back := tcp.Ends{Local: s.pair.server, Remote: s.pair.client, Conn: s.conn, Hash: s.hash}
	atClient, atServer := &h.counters[s.pair.client], &h.counters[s.pair.server]
	switch {
	case !handshake:
		client.Establish(there, atClient, clientEnd{s})
		server.Establish(back, atServer, serverEnd{s})
	case s.pushed:
		client.Listen(there, atClient, clientEnd{s})
		server.Open(now, back, atServer, serverEnd{s})
	default:
		server.Listen(back, atServer, serverEnd{s})
		client.Open(now, there, atClient, clientEnd{s})
	}
}

func (h *tcpHosts) label(s *session, dscp uint8) {
	s.client.(segments).SetDSCP(dscp)
	s.server.(segments).SetDSCP(dscp)
}

func (h *tcpHosts) count(host int) results.HostCount {
	c := h.counters[host]
	return results.HostCount{Timeouts: c.Timeouts, Retransmits: c.Retransmits, CEReceived: c.CEReceived, ECEReceived: c.ECEReceived}
}

// stopped does nothing: the uplink keeps what it is given meanwhile.
func (h *tcpHosts) stopped(time.Duration, int, bool) {}

// rated does nothing: how long the uplink takes is asked for each time.
func (h *tcpHosts) rated(time.Duration, int, units.Rate) {}

// clientEnd and serverEnd are what a session's endpoints call.
type (
	clientEnd struct{ *session }
	serverEnd struct{ *session }
)

func (e clientEnd) Delivered(now time.Duration, n int64) { e.answered(now, n) }
func (clientEnd) Acked(time.Duration)                    {}
func (e serverEnd) Delivered(now time.Duration, n int64) { e.asked(now, n) }
func (e serverEnd) Acked(now time.Duration)              { e.confirmed(now) }

// rdmaHosts speak RDMA with DCQCN.
type rdmaHosts struct{ stack *rdma.Stack }

// open makes two ends that are ready: queue pairs are set up out of band.
func (h *rdmaHosts) open(_ time.Duration, s *session, _ bool) {
	client, server := h.stack.Endpoint(), h.stack.Endpoint()
	client.Establish(rdma.Ends{Local: s.pair.client, Remote: s.pair.server, Conn: s.conn, Hash: s.hash}, clientEnd{s})
	server.Establish(rdma.Ends{Local: s.pair.server, Remote: s.pair.client, Conn: s.conn, Hash: s.hash}, serverEnd{s})
	s.client, s.server = queuePair{client}, queuePair{server}
}

// label does nothing: an answer has the DSCP of the data that it answers.
func (h *rdmaHosts) label(*session, uint8) {}

func (h *rdmaHosts) count(host int) results.HostCount {
	c := h.stack.Counters(host)
	return results.HostCount{Timeouts: c.Timeouts, Retransmits: c.Retransmits, CEReceived: c.CEReceived, ECEReceived: c.Cuts}
}

func (h *rdmaHosts) stopped(now time.Duration, host int, stop bool) { h.stack.Pause(now, host, stop) }

func (h *rdmaHosts) rated(_ time.Duration, host int, rate units.Rate) { h.stack.Rate(host, rate) }

// queuePair is one end of a connection that sends a message for each run of
// bytes of one DSCP.
type queuePair struct{ *rdma.Endpoint }

func (q queuePair) Write(now time.Duration, bytes int64, tag tcp.Tag) {
	from := int64(0)
	for i, threshold := range tag.Thresholds {
		if n := min(threshold, bytes) - from; n > 0 {
			q.Endpoint.Write(now, n, tag.DSCPs[i])
			from += n
		}
	}
	if from < bytes {
		q.Endpoint.Write(now, bytes-from, tag.DSCPs[len(tag.Thresholds)])
	}
}

// senderInfo is what an endpoint knows as a sender.
type senderInfo struct {
	resent, timeouts int64                // since it was opened
	sample           results.SenderSample // without time and flow
}

// segments is an end of a TCP connection.
type segments struct{ *tcp.Endpoint }

func (e segments) info(time.Duration) senderInfo {
	l := e.Info()
	s := results.SenderSample{Cwnd: l.Cwnd, SSThresh: l.SSThresh, SRTT: l.SRTT, Alpha: l.Alpha, Rate: int64(l.Rate)}
	return senderInfo{l.Resent, l.Timeouts, s}
}

func (q queuePair) info(now time.Duration) senderInfo {
	l := q.Info(now)
	return senderInfo{l.Resent, l.Timeouts, results.SenderSample{Rate: int64(l.Rate), Alpha: l.Alpha}}
}

// senders samples what the servers of all flows under way know, at regular times.
type senders struct {
	sim     *Simulation
	every   time.Duration
	timer   *event.Timer
	samples []results.SenderSample
}

// newSenders samples that often; with zero, never.
func newSenders(s *Simulation, every time.Duration) *senders {
	c := &senders{sim: s, every: every}
	c.timer = event.NewTimer(c.sample)
	if every > 0 {
		s.common.Schedule(c.timer, every)
	}
	return c
}

func (c *senders) sample(now time.Duration) {
	for _, x := range c.sim.sessions.slots {
		if x.flow == idle || x.ended {
			continue
		}
		s := x.server.info(now).sample
		s.At, s.Flow = now, c.sim.records[x.flow].ID
		c.samples = append(c.samples, s)
	}
	c.sim.common.Schedule(c.timer, now+c.every)
}
