package sim

import (
	"fmt"
	"time"

	"aqmlab/results"
	"aqmlab/sim/rdma"
	"aqmlab/sim/tcp"
)

// rdmaHosts speak RDMA with DCQCN.
type rdmaHosts struct{ stack *rdma.Stack }

func newRDMAHosts(s *Simulation) (*rdmaHosts, error) {
	stack, err := rdma.NewStack(&s.loop, &s.pool, s.network.Send, *s.config.RDMA)
	if err != nil {
		return nil, fmt.Errorf("hosts: %w", err)
	}
	return &rdmaHosts{stack}, nil
}

// open makes two ends that are ready: queue pairs are set up out of band.
func (h *rdmaHosts) open(_ time.Duration, s *session, _ bool) {
	client, server := h.stack.Endpoint(), h.stack.Endpoint()
	client.Establish(rdma.Ends{Local: s.pair.client, Remote: s.pair.server, Conn: s.conn, Hash: s.hash}, clientEnd{s})
	server.Establish(rdma.Ends{Local: s.pair.server, Remote: s.pair.client, Conn: s.conn, Hash: s.hash}, serverEnd{s})
	s.client, s.server = queuePair{client}, queuePair{server}
}

// label does nothing: what carries no payload takes its DSCP from the data that
// it answers.
func (h *rdmaHosts) label(*session, uint8) {}

func (h *rdmaHosts) count(host int) results.HostCount {
	c := h.stack.Counters(host)
	return results.HostCount{Timeouts: c.Timeouts, Retransmits: c.Retransmits, CEReceived: c.CEReceived, ECEReceived: c.Cuts}
}

func (h *rdmaHosts) stopped(now time.Duration, host int, stop bool) { h.stack.Pause(now, host, stop) }

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
