package fabric

import (
	"math/rand/v2"
	"slices"
	"time"

	"aqmlab/switch/packet"
	"aqmlab/units"
)

// impairment is what a wire is beside a rate and a delay that never change: its loss,
// its jitter and its course. The draws depend only on the seed, on the wire's place in
// the spec and on the packets before. Its ends may be of different parts: what is read and
// written at one of them is not at the other.
type impairment struct {
	late    *rand.Rand // draws the jitter, at the near end
	lose    *rand.Rand // draws the losses, at the far end
	jitter  time.Duration
	last    time.Duration        // when the newest packet arrives
	release func(*packet.Packet) // at the near end
	lost    func(*packet.Packet) // the same at the far end
	LossCount
	rate    float64
	mayLose bool // at some time

	states   []LinkState // of the timeline
	sent     course      // by the time at which a packet begins to be sent
	arriving course      // by the time at which one arrives, for the loss alone
}

// LossCount is what one direction of a link has lost.
type LossCount struct {
	Number   int    // of the direction: of a link's two in the spec, that from A to B first
	From, To string // names of nodes
	Packets  int64  // by chance
	Cut      int64  // because the link went down, or was down
}

// newImpairment makes the impairment of one direction of a link, whose delay is that of
// its wire. It is nil when the link has neither loss nor jitter, and never changes.
func newImpairment(e end, delay time.Duration, seed uint64, release, lost func(*packet.Packet)) *impairment {
	l := e.link
	if l.LossRate == 0 && l.Jitter == 0 && len(e.states) == 0 {
		return nil
	}
	i := &impairment{
		late:      rand.New(rand.NewPCG(seed, uint64(e.number)^0x5bd1e9955bd1e995)), // any constants that nothing else draws with
		lose:      rand.New(rand.NewPCG(seed, uint64(e.number)^0x2545f4914f6cdd1d)),
		jitter:    l.Jitter,
		release:   release,
		lost:      lost,
		LossCount: LossCount{Number: e.number, From: l.A, To: l.B},
		rate:      l.LossRate,
		mayLose:   l.LossRate > 0,
		sent:      course{LinkState: LinkState{Rate: l.Rate, Delay: delay, LossRate: l.LossRate}},
	}
	i.arriving = i.sent
	i.steer(e)
	if e.number%2 == 1 {
		i.From, i.To = l.B, l.A
	}
	return i
}

// steer gives the direction the states of the end of the link that it leads away from.
func (c *impairment) steer(e end) {
	c.states = e.states
	if e.beyond {
		c.states = shared(e.states, sentDelay)
	}
	c.mayLose = c.mayLose || slices.ContainsFunc(e.states, func(s LinkState) bool { return s.LossRate > 0 || s.Down })
}

// begin begins the timeline.
func (c *impairment) begin(zero time.Duration) {
	c.sent.ahead = shifted(c.states, zero)
	c.arriving.ahead = c.sent.ahead
}

// follow gives the wire the state in which a transmission at start begins.
func (c *impairment) follow(w *wire, start time.Duration) {
	if len(c.sent.ahead) == 0 || !c.sent.at(start) {
		return
	}
	if w.rate != c.sent.Rate {
		w.rate, w.clock = c.sent.Rate, units.Clock{} // its fraction is over the rate before
	}
	w.delay = c.sent.Delay
}

// cuts tells whether a packet that was just put on the wire is lost because the link is
// down or goes down before the packet is due, and releases it then.
func (c *impairment) cuts(k *packet.Packet) bool {
	if !c.sent.cuts(k.Due) {
		return false
	}
	c.Cut++
	c.release(k)
	return true
}

// arrival adds jitter to the time at which a packet is due.
func (c *impairment) arrival(due time.Duration) time.Duration {
	if c.jitter > 0 {
		due += time.Duration(c.late.Int64N(int64(c.jitter) + 1))
	}
	c.last = max(c.last, due)
	return c.last
}

// loses tells whether the wire loses a packet that would arrive now, and releases it
// then.
func (c *impairment) loses(now time.Duration, k *packet.Packet) bool {
	if len(c.arriving.ahead) > 0 && c.arriving.at(now) {
		c.rate = c.arriving.LossRate
	}
	if c.rate == 0 || c.lose.Float64() >= c.rate {
		return false
	}
	c.Packets++
	c.lost(k)
	return true
}
