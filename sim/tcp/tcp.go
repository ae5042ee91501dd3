// Package tcp models TCP endpoints in virtual time.
//
// Each part follows its specification: RFC 5681 (slow start, congestion
// avoidance, restart after idle) with the byte counting of RFC 3465, RFC 6298
// and 7323 (timeout from timestamps), RFC 2018 (selective acknowledgement), RFC
// 3168 and 8257 (what is marked and echoed), and one file for each congestion
// control. The window grows only while it is what limits the sender (RFC 7661).
//
// Losses are found and repaired in one of two ways. RACK is what Linux does:
// RFC 8985 (loss by time, tail loss probes) with RFC 9937 (Proportional Rate
// Reduction), without which the many losses that RACK may find at once would be
// sent again in one burst. Timers are exact, where Linux adds two milliseconds
// or more to those of probes and of reordering. SACK is RFC 6675, which includes
// the limited transmit of RFC 3042.
//
// What Linux does around these is chosen in [Config], field by field: super-packets,
// windows that are held after a mark, receive windows, and quick ACKs.
//
// Left out, because nothing that labs measure depends on them: teardown (a
// connection is over when both ends are released), urgent data, zero windows
// (the application takes bytes as they come), reneging, duplicate SACK, and
// undoing what a needless retransmission did to the window.
//
// An endpoint is driven from an event loop and sends packets from a pool;
// nothing is allocated per segment, and endpoints are used again.
package tcp

import (
	"errors"
	"fmt"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen/transport"
)

// Config holds what the endpoints of a lab have in common.
type Config struct {
	Control     kind.Choice   // row of [Controls]
	MSS         int           // payload bytes of a full segment without SACK blocks; above 28, the most that these take from it
	Header      int           // network-layer bytes of a segment before its payload, SACK blocks not counted: 52 with timestamps; at least 1
	InitCwnd    int           // initial window in segments (RFC 6928); at least 1
	RTOInit     time.Duration // timeout before the first sample; above zero, at most RTOMax
	RTOMin      time.Duration // least timeout after it; above zero
	RTOMax      time.Duration // largest timeout, back-off included; at least RTOMin
	Granularity time.Duration // G of RFC 6298: the least that the variation counts for; zero or more
	// DelayedAck is after how many segments in order an ACK is due: 1 answers
	// each, 2 is what RFC 5681, section 4.2, asks for.
	DelayedAck int
	AckTimeout time.Duration // longest delay of an ACK; above zero when DelayedAck is above 1
	// IdleRestart falls back to the initial window when nothing was sent for
	// longer than a timeout (RFC 5681, section 4.1).
	IdleRestart bool
	// Validation changes IdleRestart as in Linux: the window halves for every timeout
	// without data, and a window loses half of its unused part after a timeout
	// (congestion window validation, RFC 2861, section 3).
	Validation    bool
	LossRecovery  string // how losses are found: [RACK], [SACK] or [SACKPRR]
	ReceiveWindow int64  // bytes that a sender may have outstanding; zero: any number; else at least MSS
	Receive       Receive
	// RTOOpen is the timeout before the first sample of a connection that is
	// established without a handshake, which would have given one; zero: RTOInit.
	RTOOpen time.Duration
	// BaseRTT is the longest round-trip time without queues, transmission included, for
	// controls that aim at a delay. With zero these know only what they measure.
	BaseRTT time.Duration
	// QuickAcks is how many segments are acknowledged at once when data begins to
	// come, and again after a pause of a timeout (Linux's quick ACKs); zero or more.
	QuickAcks int
	// SuperPacket is the payload of a super-packet (TSO, GSO), in whole segments: data
	// waits until the window has room for much of one. With zero it waits for room for
	// one segment. Needs RACK.
	SuperPacket int64
	// Hold cuts the window for a mark over a round trip, in which it does not grow, and
	// makes DCTCP's cut whole segments, as in Linux. Needs RACK.
	Hold bool
	// SmallQueue bounds how long an endpoint's data may wait for its host's uplink. The
	// endpoint sends no more while its data waits longer, so that a large window does
	// not pile up in the host (Linux's TCP small queues). Zero is no bound.
	SmallQueue time.Duration
	// Backlog tells how long the uplink of a host takes for what it was given;
	// needed with SmallQueue.
	Backlog func(now time.Duration, host int) time.Duration
}

// The ways to find losses and to repair them.
const (
	RACK = "rack" // by time, with tail loss probes (RFC 8985), as Linux does
	SACK = "sack" // by what is selectively acknowledged (RFC 6675)
	// SACKPRR finds losses by selective acknowledgements, and sends in proportion to
	// what arrives meanwhile (RFC 9937), as Linux does without RACK.
	SACKPRR = "sack-prr"
)

// Counters count what the endpoints of one host met.
type Counters struct {
	Timeouts       int64 // expiries of retransmission timers, those of SYNs included
	Retransmits    int64 // segments sent again, SYNs not included
	FastRecoveries int64 // entries into loss recovery without a timeout
	Probes         int64 // tail loss probes
	CEReceived     int64 // packets that came marked
	ECEReceived    int64 // segments that came with an ECN echo; with Accurate ECN, marked packets that were told
}

// Ends are the two ends of a connection, as one of them sees it.
type Ends struct {
	Local, Remote int32  // hosts
	Conn          int32  // number of the connection, the same at both ends
	Hash          uint32 // of what this end sends, for ECMP
	DSCP          uint8  // of segments without payload, see [Endpoint.SetDSCP]
}

// Upcalls tell the user of an endpoint what happened. An upcall may use the
// endpoint, and may release it.
type Upcalls interface {
	// Established is called when the handshake is over.
	Established(now time.Duration)
	// Delivered hands over the next n bytes, above zero, of what the other end
	// wrote.
	Delivered(now time.Duration, n int64)
	// Acked is called when an acknowledgement came, and now all that was written
	// is acknowledged.
	Acked(now time.Duration)
}

// check validates what the congestion control does not.
func (c *Config) check() error {
	switch {
	case c.MSS <= sackBytes(maxBlocks):
		return fmt.Errorf("MSS of %d bytes: want above %d", c.MSS, sackBytes(maxBlocks))
	case c.Header < 1:
		return fmt.Errorf("header of %d bytes: want at least 1", c.Header)
	case c.InitCwnd < 1:
		return fmt.Errorf("initial window of %d segments: want at least 1", c.InitCwnd)
	case c.DelayedAck < 1:
		return fmt.Errorf("an ACK every %d segments: want at least 1", c.DelayedAck)
	case c.DelayedAck > 1 && c.AckTimeout <= 0:
		return fmt.Errorf("delayed ACKs wait for at most %v: want above zero", c.AckTimeout)
	case c.SmallQueue < 0 || c.SmallQueue > 0 && c.Backlog == nil:
		return fmt.Errorf("small queue of %v: want zero, or more and the uplinks' backlog", c.SmallQueue)
	case c.LossRecovery != RACK && c.LossRecovery != SACK && c.LossRecovery != SACKPRR:
		return fmt.Errorf("loss recovery %q: want %s, %s or %s", c.LossRecovery, RACK, SACK, SACKPRR)
	case c.LossRecovery == SACK && (c.Hold || c.SuperPacket != 0):
		return fmt.Errorf("loss recovery %q: want %s or %s for windows that are held and for super-packets", SACK, RACK, SACKPRR)
	case c.SuperPacket < 0 || c.SuperPacket%int64(c.MSS) != 0:
		return fmt.Errorf("super-packets of %d bytes: want whole segments of %d", c.SuperPacket, c.MSS)
	case c.Receive.Buffer != 0 && (c.Receive.Buffer < 4*int64(c.MSS) || c.Receive.Most < c.Receive.Buffer):
		return fmt.Errorf("receive buffer of %d to %d bytes: want zero, or at least four segments, and no less at the end", c.Receive.Buffer, c.Receive.Most)
	case c.ReceiveWindow != 0 && c.ReceiveWindow < int64(c.MSS):
		return fmt.Errorf("receive window of %d bytes: want zero or at least the MSS, %d", c.ReceiveWindow, c.MSS)
	}
	return c.checkTimeouts()
}

func (c *Config) checkTimeouts() error {
	switch {
	case c.RTOMin <= 0:
		return fmt.Errorf("least timeout %v: want above zero", c.RTOMin)
	case c.RTOMax < c.RTOMin:
		return fmt.Errorf("largest timeout %v: want at least the least, %v", c.RTOMax, c.RTOMin)
	case c.RTOInit <= 0 || c.RTOInit > c.RTOMax:
		return fmt.Errorf("initial timeout %v: want above zero, at most %v", c.RTOInit, c.RTOMax)
	case c.Granularity < 0:
		return errors.New("negative clock granularity")
	}
	return nil
}

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
	if family.metered && c.LossRecovery == SACK {
		return nil, fmt.Errorf("tcp: loss recovery %q: want %s or %s for %s, which goes by the times of segments", SACK, RACK, SACKPRR, c.Control.Kind)
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
		e.pace.ready.init(s.loop, e.push)
		e.steer, _ = e.control.(steering)
		if s.family.metered {
			e.rack.meter = &meter{}
		}
		return e
	}
	s.free, e.next = e.next, nil
	return e
}

// Controls lists the congestion controls.
//
// Without ECN (reno, cubic, swift, bbr, bbr3) no packet is ECN-capable. With prague every
// packet is ECT(1). ecn-star follows RFC 3168:
// only data that is sent for the first time is. With dctcp every segment is:
// RFC 8257, section 3.6, asks for it on SYNs, since switches drop what they
// cannot mark; it says nothing of pure ACKs and of data that is sent again, which
// Linux, followed here, sends so too. A mark on a segment without payload is
// ignored.
func Controls() kind.Table[struct{}, Family] {
	return kind.Table[struct{}, Family]{
		kind.Row("dctcp", "cut the window by the share of marked packets (RFC 8257)", transport.DefaultDCTCP(), newDCTCP),
		kind.Row("ecn-star", "Reno that treats a mark like a loss, at most once a window (RFC 3168)", transport.DefaultECNStar(), newECNStar),
		kind.Row("reno", "Reno without ECN (RFC 5681)", struct{}{}, newReno),
		kind.Row("cubic", "CUBIC without ECN (RFC 9438)", Cubic{Beta: 0.7, C: 0.4, FastConvergence: true}, newCubic),
		kind.Row("prague", "DCTCP for shared networks: ECT(1), paced, and with accurate feedback (L4S)", transport.DefaultPrague(), newPrague),
		kind.Row("swift", "keep the delay at a target, with windows of less than a segment (SIGCOMM 2020)", transport.DefaultSwift(), newSwift),
		kind.Row("bbr", "pace by the rate and round trip of the path (BBR version 1, as in Linux)", struct{}{}, newBBR),
		kind.Row("bbr3", "BBR version 3, which also bounds what is under way by losses (draft-ietf-ccwg-bbr)", struct{}{}, newBBR3),
	}
}
