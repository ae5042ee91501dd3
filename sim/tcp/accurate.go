package tcp

import (
	"time"

	"aqmlab/switch/packet"
)

// Accurate ECN (RFC 9768): a receiver counts what comes marked, and tells its counter with
// everything that it sends. The header has three bits of it. An option tells how often
// these have wrapped (see [packet.Segment]), whose length is not counted in the size of
// segments. Negotiation is left out, as for all ECN here: marks on SYNs are neither
// counted nor told.

const (
	// firstACE is what the counter begins with, so that an end that counted nothing is told
	// from one that does not count (section 3.2.1).
	firstACE = 5
	// tellEach is after how many marked packets an acknowledgement is due (section
	// 3.2.2.5.1, increment-triggered ACKs).
	tellEach = 2
)

// ceCounter is what a receiver has counted.
type ceCounter struct {
	ace    uint16 // marked packets (r.cep), as segments tell it; zero: it does not count
	untold int    // of them, since a segment was last sent
	last   bool   // the last segment with payload was marked
}

func (c *ceCounter) begin() { *c = ceCounter{ace: packet.ACECounts | firstACE} }

// add counts a marked packet.
func (c *ceCounter) add(s *packet.Segment) {
	if s.Flags&packet.SYN != 0 {
		return
	}
	c.ace = packet.ACECounts | (c.ace+1)%packet.ACECounts
	c.untold++
}

// due tells whether a segment with payload, counted if it was marked, has to be
// acknowledged at once: the first marked one after one that was not, and then every
// second (section 3.2.2.5.1).
func (c *ceCounter) due(marked bool) bool {
	first := marked && !c.last
	c.last = marked
	return first || c.untold >= tellEach
}

// ceTold is what a sender has been told.
type ceTold struct {
	ace   uint16
	stamp time.Duration // of the last segment that told it
}

// takeCount is how many more marked packets a segment tells of. A segment that a later
// one has overtaken tells nothing.
func (e *Endpoint) takeCount(s *packet.Segment) int64 {
	t := &e.told
	if s.ACE == 0 || s.Flags&packet.SYN != 0 || s.Stamp < t.stamp {
		return 0
	}
	n := int64((s.ACE - t.ace) % packet.ACECounts)
	t.ace, t.stamp = s.ACE%packet.ACECounts, s.Stamp
	e.counters.ECEReceived += n
	return n
}
