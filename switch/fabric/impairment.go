package fabric

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"aqmlab/switch/packet"
)

// chance is what a wire does to its packets at random: what it loses, and how
// much longer than its delay the others take. The draws depend on the seed, on
// the wire's place in the spec and on the packets before, and on nothing else.
type chance struct {
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

// newChance is that of the direction of a link that leads away from one of its
// ends, or nil when nothing is left to chance.
func (n *Network) newChance(e end) *chance {
	l := e.link
	if l.LossRate == 0 && l.Jitter == 0 {
		return nil
	}
	c := &chance{
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
	n.chances = append(n.chances, c)
	return c
}

// arrival is when a packet arrives that would do so at due without jitter.
func (c *chance) arrival(due time.Duration) time.Duration {
	if c.jitter > 0 {
		due += time.Duration(c.rand.Int64N(int64(c.jitter) + 1))
	}
	c.last = max(c.last, due)
	return c.last
}

// loses tells whether the wire has lost a packet, which is then gone.
func (c *chance) loses(k *packet.Packet) bool {
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
	inOrder := func(a, b *chance) int { return cmp.Compare(a.number, b.number) }
	for _, c := range slices.SortedFunc(slices.Values(n.chances), inOrder) {
		if c.rate > 0 {
			counts = append(counts, c.LossCount)
		}
	}
	return counts
}
