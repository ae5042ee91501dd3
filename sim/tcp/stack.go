package tcp

import (
	"fmt"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
)

// Stack is what the endpoints of a simulation share, and where they come from
// and go back to. It is not safe for concurrent use.
type Stack struct {
	config Config
	family Family
	mss    int64
	rack   bool  // losses are found segment by segment, and windows reduced in proportion, as in Linux
	memory int64 // that a full segment takes at a receiver
	loop   *event.Loop
	pool   *packet.Pool
	send   func(now time.Duration, host int, k *packet.Packet)
	free   *Endpoint
}

// NewStack prepares endpoints that live on a loop, take packets from a pool,
// and hand those that a host sends to send. Errors name what does not fit in
// the configuration.
func NewStack(loop *event.Loop, pool *packet.Pool, send func(now time.Duration, host int, k *packet.Packet), c Config) (*Stack, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("tcp: %w", err)
	}
	family, err := Controls().New(c.Control.Kind, c.Control.Params, struct{}{})
	if err != nil {
		return nil, fmt.Errorf("tcp: congestion control: %w", err)
	}
	return &Stack{config: c, family: family, mss: int64(c.MSS), rack: c.LossRecovery != SACK, memory: segmentMemory(c.MSS, c.Header), loop: loop, pool: pool, send: send}, nil
}

// Endpoint hands out a closed endpoint. Open it with [Endpoint.Open],
// [Endpoint.Listen] or [Endpoint.Establish], and give it back with
// [Endpoint.Release].
func (s *Stack) Endpoint() *Endpoint {
	e := s.free
	if e == nil {
		e = &Endpoint{stack: s, control: s.family.make()}
		e.rack.counts = s.config.LossRecovery == SACKPRR
		e.retransmit.init(s.loop, e.ring)
		e.rcv.delay.init(s.loop, e.delayed)
		e.uplink.drained.init(s.loop, e.push)
		return e
	}
	s.free, e.next = e.next, nil
	return e
}
