// Package port is the egress pipeline of one switch port: classify, admit to
// the shared buffer, marking on arrival, queue, scheduler, rate limiter,
// marking on departure.
//
// The order is that of TCN, section 5, and MQ-ECN, section 4.2. The port is
// handed the lab time; it never reads a clock, blocks, locks, or allocates per
// packet.
package port

import (
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// FrameOverhead is what Ethernet adds to a network-layer packet on the wire:
// header 14, FCS 4, preamble 8 and inter-frame gap 12 bytes.
const FrameOverhead = 38

// Spec says how a port is built. It is plain data: a lab makes it, and it
// crosses process boundaries as JSON.
type Spec struct {
	Rate      units.Rate    // line rate C
	RTT       time.Duration // base RTT, for the thresholds that are computed from it
	Queues    int           // number of queues; the DSCP of a packet is its queue's number, an unknown one means queue 0
	Buffer    units.Size    // bytes of the port's buffer, shared by its queues first come, first served
	Limiter   Limiter
	Scheduler kind.Choice
	Scheme    kind.Choice
	Seed      uint64 // of the scheme's randomness
}

// Limiter is the token bucket that keeps the backlog in the switch's queues
// (TCN, section 5). The zero Limiter is off.
type Limiter struct {
	RateFraction float64    // of the line rate, in (0, 1]
	Bucket       units.Size // at least a full frame; counts wire bytes
}
