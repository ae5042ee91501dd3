package port

import (
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// Spec says how a port is built. It is plain data: a lab makes it, and it
// crosses process boundaries as JSON.
type Spec struct {
	Rate      units.Rate    // line rate C
	RTT       time.Duration // base RTT, for the thresholds that are computed from it
	Queues    int           // number of queues; the DSCP of a packet is its queue's number, an unknown one means queue 0
	Buffer    units.Size    // bytes of packet memory: the port's, or the pool's that all ports of a switch draw from
	Sharing   Sharing       // of the buffer
	Limiter   Limiter
	Scheduler kind.Choice
	Scheme    kind.Choice
	Ingress   kind.Choice // gate of the ingress side; without a kind there is none
	Seed      uint64      // of the scheme's randomness
}
