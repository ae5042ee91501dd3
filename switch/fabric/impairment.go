package fabric

import (
	"cmp"
	"math/rand/v2"
	"slices"
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

// newImpairment makes the impairment of the direction that leads away from an end
// of a link, or nil when the link has neither loss nor jitter.
func (n *Network) newImpairment(e end) *impairment {
	l := e.link
	if l.LossRate == 0 && l.Jitter == 0 {
		return nil
	}
	c := &impairment{
		number:    e.number,
		rand:      rand.New(rand.NewPCG(n.seed, uint64(e.number)^0x5bd1e9955bd1e995)), // any constant that nothing else draws with
		jitter:    l.Jitter,
		release:   n.to.Release,
		LossCount: LossCount{From: l.A, To: l.B},
		rate:      l.LossRate,
	}
	if e.number%2 == 1 {
		c.From, c.To = l.B, l.A
	}
	n.impaired = append(n.impaired, c)
	return c
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

// Lost counts the packets that links have lost so far, of each direction of the
// links that may lose any: in the order of the spec, from A to B first.
func (n *Network) Lost() []LossCount {
	var counts []LossCount
	inOrder := func(a, b *impairment) int { return cmp.Compare(a.number, b.number) }
	for _, c := range slices.SortedFunc(slices.Values(n.impaired), inOrder) {
		if c.rate > 0 {
			counts = append(counts, c.LossCount)
		}
	}
	return counts
}
