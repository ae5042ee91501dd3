package aqm

import (
	"math"
	"math/bits"
	"time"
)

// maxTicks bounds intervals so that times compare right across a wrap of the
// clock.
const maxTicks = 1_000_000_000

// tofino is the persistent rule of ECN# as the paper's switch program computes
// it: 32-bit registers, no division (ECN#, section 4). It differs from the
// exact rule in four ways: the signal counts from above the target instead of
// from the target, a register holds the end of the interval instead of its
// beginning, with zero for none, time is in ticks of 1.024 us, and
// pst_interval/count comes from a table.
//
// The program keeps its registers by port; here each queue has its own, and the
// clock alone is the port's.
type tofino struct {
	target   float64
	interval uint32 // ticks
	clock    tofinoClock
	divide   divider
	queues   []tofinoQueue
}

type tofinoQueue struct {
	deadline uint32 // zero when the signal is not above the target
	marking  bool
	count    uint32
	next     uint32
}

// newTofino writes one tick for each microsecond of the interval, as the paper
// does, so that intervals last 2.4 % longer.
func newTofino(p ECNSharp, target float64, queues int) *tofino {
	interval := uint32(p.PstInterval / time.Microsecond)
	return &tofino{
		target:   target,
		interval: interval,
		clock:    tofinoClock{printed: p.Clock == asPrinted},
		divide:   newDivider(interval, p.Division == asPrinted),
		queues:   make([]tofinoQueue, queues),
	}
}

func (t *tofino) marks(now time.Duration, queue int, signal float64) bool {
	ticks := t.clock.read(now)
	q := &t.queues[queue]
	if !t.detected(q, ticks, signal) {
		q.marking = false
		return false
	}
	if !q.marking {
		q.marking, q.count, q.next = true, 1, ticks+t.interval
		return true
	}
	if !after(ticks, q.next) {
		return false
	}
	if q.count < math.MaxUint32 { // stays at its most: by then a gap is no tick
		q.count++
	}
	q.next += t.divide.by(q.count)
	return true
}

// detected is Figure 5 of the paper, with the test for zero first: as printed,
// a register of zero would count as a deadline that has passed.
func (t *tofino) detected(q *tofinoQueue, ticks uint32, signal float64) bool {
	switch {
	case signal <= t.target:
		q.deadline = 0
		return false
	case q.deadline == 0:
		q.deadline = ticks + t.interval
		return false
	}
	return after(ticks, q.deadline)
}

// after compares times across a wrap of the clock.
func after(a, b uint32) bool { return int32(a-b) > 0 }

// tofinoClock makes a 32-bit clock of ticks from the lower half of a 64-bit
// time stamp in nanoseconds, which wraps every 4.29 s: the low 22 bits are
// ticks, the high 10 bits count the wraps (ECN#, Algorithm 2). It must be read
// once for every packet; a pause of 4.29 s or more hides wraps.
type tofinoClock struct {
	low, high uint32
	printed   bool // take a tick that did not rise for a wrap
}

func (c *tofinoClock) read(now time.Duration) uint32 {
	t := uint32(now) >> 10
	if t < c.low || c.printed && t == c.low {
		c.high++
	}
	c.low = t
	return c.high<<22 + c.low // what high has above ten bits falls off
}

// divider is pst_interval/count from a table of sixteen 8-bit entries (ECN#,
// Algorithm 3): the four leading bits of count are the index, shifts do the
// rest.
type divider struct {
	table [16]uint8 // entries 0 to 7 are never read
	scale int       // of entry over quotient, as a power of two, for a count of 1
}

// newDivider fills the table so that the largest entry takes seven bits. As
// printed, the entries are those of an interval from 509 to 1016; others give
// wrong quotients, and above 2040 do not fit eight bits.
func newDivider(interval uint32, printed bool) divider {
	const offset = 3
	d := divider{scale: exponent(interval) + offset}
	num, unit := uint64(interval), uint64(1)
	if k := d.scale - offset; !printed && k < 0 {
		num <<= -k
	} else if !printed {
		unit <<= k
	}
	for i := uint64(8); i < 16; i++ {
		d.table[i] = uint8((num + i*unit - 1) / (i * unit))
	}
	return d
}

// exponent is ceil(log2(interval / (8 x 127))), interval being at least 1.
func exponent(interval uint32) int {
	const full = 8 * 127
	k := 0
	for uint64(interval) > full<<k {
		k++
	}
	for k <= 0 && interval<<(1-k) <= full {
		k--
	}
	return k
}

// by is the interval over n, which is at least 1, rounded up by at most an
// eighth, and then down to a whole number.
func (d *divider) by(n uint32) uint32 {
	s := bits.Len32(n) - 1
	index := n << 3 >> s
	if n >= 16 {
		index = n >> (s - 3)
	}
	shift := d.scale - s
	if shift < 0 {
		return uint32(d.table[index]) >> -shift
	}
	return uint32(d.table[index]) << shift
}

// TofinoQuotient is pst_interval over a number of marks, both at least 1, as the
// switch program of ECN# computes it (section 4.3): in whole ticks of 1.024 us.
func TofinoQuotient(interval, marks uint32) uint32 {
	d := newDivider(interval, false)
	return d.by(marks)
}

// TofinoClockWraps reads the clock of the switch program of ECN# (section 4.2)
// until it begins anew: first the lower half of the time stamps in nanoseconds
// that it is made of, and then all of its 32 bits.
func TofinoClockWraps() (stamp, whole time.Duration) {
	const step = 1 << 30 // ns; it divides both times
	c := tofinoClock{}
	for before, now := c, uint32(0); ; before = c {
		whole += step
		last := now
		now = c.read(whole)
		if stamp == 0 && c.low < before.low {
			stamp = whole
		}
		if now < last {
			return stamp, whole
		}
	}
}
