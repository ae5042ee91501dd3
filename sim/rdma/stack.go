// Package rdma models hosts that speak RoCEv2 with DCQCN: queue pairs that send
// messages at a rate, without a handshake or a window, over a network that is
// lossless (see package fabric, Pause) or not.
//
// Congestion control is DCQCN (Zhu et al., Congestion Control for Large-Scale
// RDMA Deployments, SIGCOMM 2015): the receiver answers marked data with
// notifications, and the sender's rate follows them. Reliability is go-back-N,
// as in the network cards of that paper: the receiver takes packets in order
// only and reports the first gap; the sender starts again from there. What is
// lost without a report is found by a timer.
package rdma

import (
	"errors"
	"fmt"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

// Stack is the RDMA side of all hosts of a network. It stands on the network's
// event loop and reads no clock.
type Stack struct {
	loop     *event.Loop
	pool     *packet.Pool
	send     func(at time.Duration, host int, k *packet.Packet)
	config   Config
	payload  int64 // of a full packet
	nics     []nic
	counters []Counters
	free     *Endpoint
}

// Counters add up what happened to the flows of a host since the stack was
// built.
type Counters struct {
	Cuts          int64 // of the rate, each for a notification that came back
	CEReceived    int64 // packets that came marked
	Notifications int64 // sent for those
	Refusals      int64 // sent, for gaps in the data that came
	Retransmits   int64 // packets sent more than once
	Timeouts      int64 // retransmission timers that expired
}

// NewStack makes a stack whose hosts take packets from pool and hand them to
// send, when the first bit leaves. Errors name the parameter that does not fit.
func NewStack(loop *event.Loop, pool *packet.Pool, send func(at time.Duration, host int, k *packet.Packet), c Config) (*Stack, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("rdma: %w", err)
	}
	s := &Stack{
		loop: loop, pool: pool, send: send, config: c,
		payload:  int64(c.Payload()),
		nics:     make([]nic, len(c.Uplinks)),
		counters: make([]Counters, len(c.Uplinks)),
	}
	for i, rate := range c.Uplinks {
		s.nics[i].init(s, i, rate)
	}
	return s, nil
}

// Counters are those of a host.
func (s *Stack) Counters(host int) Counters { return s.counters[host] }

// Pause takes what the network's flow control says of a host's uplink: while it
// is stopped the host keeps its packets.
func (s *Stack) Pause(now time.Duration, host int, stopped bool) { s.nics[host].pause(now, stopped) }

// Endpoint hands out one end of a connection, to be established before use and
// released after it.
func (s *Stack) Endpoint() *Endpoint {
	e := s.free
	if e == nil {
		return newEndpoint(s)
	}
	s.free, e.after = e.after, nil
	return e
}

// Config says what hosts a stack models.
type Config struct {
	transport.DCQCN
	// Uplinks are the rates of the hosts' links. A flow starts at that of its
	// host and never sends faster.
	Uplinks []units.Rate
	// MTU is the network-layer size of a full packet in bytes. RoCE's own path
	// MTUs are powers of two; the model fills the link's, so that a threshold of
	// some packets means the same as under TCP.
	MTU int
	// RTO is the time without progress after which a sender goes back to what
	// the receiver has not acknowledged. It does not back off.
	RTO time.Duration
}

// Payload is how many bytes of a message a full packet carries.
func (c *Config) Payload() int { return c.MTU - dataHeaders }

func (c *Config) check() error {
	if len(c.Uplinks) == 0 {
		return errors.New("no hosts")
	}
	for i, r := range c.Uplinks {
		if r < c.MinRate {
			return fmt.Errorf("uplink of host %d: %v is below min_rate, %v", i, r, c.MinRate)
		}
	}
	if c.Payload() <= 0 {
		return fmt.Errorf("MTU of %d bytes leaves no payload behind %d of headers", c.MTU, dataHeaders)
	}
	if c.RTO <= 0 {
		return fmt.Errorf("RTO %v is not above zero", c.RTO)
	}
	return nil
}
