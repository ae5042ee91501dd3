package event

import (
	"math/bits"
	"time"
)

// entry is a timer in the wheel. The key stands beside the pointer, so that
// looking for the earliest touches no timer.
type entry struct {
	at  time.Duration
	key Key
	t   *Timer
}

// before tells whether e runs before another one.
func (e *entry) before(f *entry) bool { return e.at < f.at || e.at == f.at && e.key < f.key }

// live tells whether the timer has not been moved or cancelled since.
func (e *entry) live() bool { return e.t.key == e.key && e.t.at == e.at }

// wheel is a monotone priority queue: a hierarchy of timing wheels (Varghese and
// Lauck, SOSP 1987) that turns to the next entry instead of tick by tick, as a
// radix heap does (Ahuja et al., JACM 1990). Times are read as numbers of
// digits. An entry stands at the level of the highest digit in which its time
// differs from base, in the slot of its own digit there; base is never later
// than any entry. So all of a level is earlier than all above it, all of a slot
// is earlier than the slots behind it, and a slot of level 0 holds one instant.
//
// When base reaches a slot, its entries move down, in their order, and come
// before all that is placed at their new levels later: entries of one instant
// leave in the order in which they were placed, and nothing is ever compared.
// What an entry costs does not depend on how many there are.
type wheel struct {
	base   time.Duration
	count  int    // of entries
	stale  int    // of those that are not live
	used   uint16 // bit l: level l is not empty
	levels [levels]level
	spare  *chunk
}

// digit is the number of bits of a digit: a level's slots are as many as a word
// has bits. Levels are enough for all times above zero.
const (
	digit  = 6
	slots  = 1 << digit
	levels = (63 + digit - 1) / digit
)

type level struct {
	used  uint64 // bit s: slot s is not empty
	slots [slots]fifo
}

// fifo is a slot: a FIFO of entries, in chunks that go from slot to slot: memory is for
// what is pending now, and stays in near caches.
type fifo struct{ head, tail *chunk }

// block is how many entries a chunk has, which make it half a kilobyte.
const block = 20

type chunk struct {
	next        *chunk
	first, last int32 // entries from first up to but not including last count
	entries     [block]entry
}

// place adds an entry that is not earlier than base.
func (w *wheel) place(e entry) {
	w.count++
	l := 0
	if differ := uint64(e.at ^ w.base); differ >= slots {
		l = (bits.Len64(differ) - 1) / digit
	}
	s := uint64(e.at) >> (l * digit) % slots
	v := &w.levels[l]
	q := &v.slots[s]
	c := q.tail
	switch {
	case c == nil:
		c = w.chunk()
		q.head, q.tail = c, c
		v.used |= 1 << s
		w.used |= 1 << l
	case c.last == block:
		c.next = w.chunk()
		c = c.next
		q.tail = c
	}
	c.entries[c.last] = e
	c.last++
}

// chunk is an empty chunk.
func (w *wheel) chunk() *chunk {
	c := w.spare
	if c == nil {
		return new(chunk)
	}
	w.spare = c.next
	c.next, c.first, c.last = nil, 0, 0
	return c
}

// give takes a chunk back, and returns the one behind it.
func (w *wheel) give(c *chunk) (next *chunk) {
	next = c.next
	c.next, w.spare = w.spare, c
	return next
}

// front is the level and the slot of the earliest entries. There must be some.
func (w *wheel) front() (l, s int) {
	l = bits.TrailingZeros16(w.used)
	return l, bits.TrailingZeros64(w.levels[l].used)
}

// take empties a slot.
func (w *wheel) take(l, s int) *chunk {
	v := &w.levels[l]
	head := v.slots[s].head
	v.slots[s] = fifo{}
	if v.used &^= 1 << s; v.used == 0 {
		w.used &^= 1 << l
	}
	return head
}

// pop takes out the earliest entry that is live, if there is one that is not
// behind until.
func (w *wheel) pop(until time.Duration) (e entry, ok bool) {
	for w.count > 0 {
		l, s := w.front()
		c := w.levels[l].slots[s].head
		if l > 0 && (c.next != nil || c.last-c.first > 1) {
			at := earliest(c)
			if at > until {
				return entry{}, false
			}
			w.base = at
			w.lower(w.take(l, s))
			continue
		}
		e = c.entries[c.first]
		if e.at > until {
			return entry{}, false
		}
		w.base = e.at
		w.drop(l, s)
		if e.live() {
			return e, true
		}
		w.stale--
	}
	return entry{}, false
}

// drop takes out the first entry of a slot.
func (w *wheel) drop(l, s int) {
	w.count--
	q := &w.levels[l].slots[s]
	c := q.head
	if c.first++; c.first < c.last {
		return
	}
	if q.head = c.next; q.head == nil {
		w.take(l, s)
	}
	w.give(c)
}

// forever is the last lab time that there is.
const forever time.Duration = 1<<63 - 1

// earliest is the least time of the entries of a slot.
func earliest(c *chunk) time.Duration {
	at := forever
	for ; c != nil; c = c.next {
		for _, e := range c.entries[c.first:c.last] {
			at = min(at, e.at)
		}
	}
	return at
}

// lower places the entries of a slot that base has reached anew. To see which
// are live brings their timers into a near cache, many at a time, before they
// run one after another.
func (w *wheel) lower(c *chunk) {
	for c != nil {
		for i := c.first; i < c.last; i++ {
			w.count--
			if e := &c.entries[i]; e.live() {
				w.place(*e)
			} else {
				w.stale--
			}
		}
		c = w.give(c)
	}
}

// earliest is a time that no entry is before. There must be some.
func (w *wheel) earliest() time.Duration {
	l, s := w.front()
	return earliest(w.levels[l].slots[s].head)
}

// first is the time of the earliest entry that is live. A slot without any it
// empties.
func (w *wheel) first() (at time.Duration, ok bool) {
	l, s := w.front()
	at = forever
	for c := w.levels[l].slots[s].head; c != nil; c = c.next {
		for _, e := range c.entries[c.first:c.last] {
			if e.live() {
				at, ok = min(at, e.at), true
			}
		}
	}
	if !ok {
		w.lower(w.take(l, s))
	}
	return at, ok
}

// forget notes that an entry is not live any more. It stays where it is, to be
// skipped when its time comes, unless most have become such.
func (w *wheel) forget() {
	if w.stale++; w.stale <= block || w.stale <= w.count/2 {
		return
	}
	for l := range w.levels {
		for used := w.levels[l].used; used != 0; used &= used - 1 {
			w.lower(w.take(l, bits.TrailingZeros64(used)))
		}
	}
}
