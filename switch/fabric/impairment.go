package fabric

import (
	"math/rand/v2"
	"time"

	"aqmlab/switch/packet"
)

// impairment is the loss and the jitter of a wire. The draws depend only on the
// seed, on the wire's place in the spec and on the packets before.
type impairment struct {
	number  int // of the direction, in the spec
	rand    *rand.Rand
	jitter  time.Duration
	last    time.Duration // when the newest packet arrives
	release func(*packet.Packet)
	LossCount
	rate float64
}

// LossCount is what one direction of a link has lost.
type LossCount struct {
	From, To string // names of nodes
	Packets  int64
}

// newImpairment makes the impairment of one direction of a link: with an odd number
// that from B to A. It is nil when the link has neither loss nor jitter.
func newImpairment(l Link, number int, seed uint64, release func(*packet.Packet)) *impairment {
	if l.LossRate == 0 && l.Jitter == 0 {
		return nil
	}
	i := &impairment{
		number:    number,
		rand:      rand.New(rand.NewPCG(seed, uint64(number)^0x5bd1e9955bd1e995)), // any constant that nothing else draws with
		jitter:    l.Jitter,
		release:   release,
		LossCount: LossCount{From: l.A, To: l.B},
		rate:      l.LossRate,
	}
	if number%2 == 1 {
		i.From, i.To = l.B, l.A
	}
	return i
}

// arrival adds jitter to the time at which a packet is due.
func (c *impairment) arrival(due time.Duration) time.Duration {
	if c.jitter > 0 {
		due += time.Duration(c.rand.Int64N(int64(c.jitter) + 1))
	}
	c.last = max(c.last, due)
	return c.last
}

// loses tells whether the wire loses a packet, and releases it then.
func (c *impairment) loses(k *packet.Packet) bool {
	if c.rate == 0 || c.rand.Float64() >= c.rate {
		return false
	}
	c.Packets++
	c.release(k)
	return true
}
