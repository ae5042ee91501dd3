package event

import (
	"math/bits"
	"time"
)

// calendar is a queue of what is due soon: a ring of slots, each some time wide
// (Brown, CACM 1988). There are many more slots than entries, so almost every entry is
// alone in its slot, and found by the bit of that. Others of a slot stand in a list
// behind its first one, in the order of (time, key). What is due beyond the ring is
// for the wheel.
//
// The number of slots and their width follow what is scheduled, see [calendar.fit].
// They decide what an event costs, and never which one is next.
type calendar struct {
	slots []slot
	used  []uint64 // bit s%64 of word s/64: slot s is not empty
	shift uint8    // a slot is 1<<shift ns wide
	from  int64    // place of the last event that ran: no entry is before it, or a round ahead of it
	count int      // of entries
	nodes []node   // but for the first one, which stands for none
	free  int32    // list of the nodes that hold no entry

	ahead  int64      // place from which on no timer was fetched
	coming [16]*Timer // those that were fetched last, a ring
	turn   int        // how many that were in all

	// Since the last fit.

	beyond int   // entries that the ring did not reach
	reach  int64 // the most places ahead of the last event that one was placed
	walked int   // nodes that were looked at before one was placed
}

// slot is the first entry of a slot, and the list of the others.
type slot struct {
	entry
	head, tail int32
}

// node is an entry in a list.
type node struct {
	entry
	next int32
}

// holds tells whether the ring reaches a time, which is not before the last event.
func (c *calendar) holds(at time.Duration) bool {
	ahead := int64(at)>>(c.shift&63) - c.from
	if ahead >= int64(len(c.slots)) {
		c.beyond++
		return false
	}
	c.reach = max(c.reach, ahead)
	return true
}

// slot is the number of the slot of a time.
func (c *calendar) slot(at time.Duration) uint {
	return uint(at>>(c.shift&63)) & uint(len(c.slots)-1)
}

// place adds an entry that the ring holds.
func (c *calendar) place(e entry) {
	c.count++
	s := c.slot(e.at)
	q, word, bit := &c.slots[s], &c.used[s/64], uint64(1)<<(s%64)
	if *word&bit != 0 {
		c.join(q, e)
		return
	}
	*word |= bit
	q.entry, q.head = e, 0
}

// join adds an entry to a slot that has some.
func (c *calendar) join(q *slot, e entry) {
	if e.before(&q.entry) {
		q.entry, e = e, q.entry
	}
	i := c.free
	if i == 0 {
		i = int32(len(c.nodes))
		c.nodes = append(c.nodes, node{})
	} else {
		c.free = c.nodes[i].next
	}
	n := &c.nodes[i]
	n.entry, n.next = e, 0
	if q.head == 0 {
		q.head, q.tail = i, i
		return
	}
	if tail := &c.nodes[q.tail]; !e.before(&tail.entry) {
		tail.next, q.tail = i, i
		return
	}
	at := &q.head
	for !e.before(&c.nodes[*at].entry) {
		at = &c.nodes[*at].next
		c.walked++
	}
	n.next, *at = *at, i
}

// first is the slot of the earliest entry. There must be one.
func (c *calendar) first() (s uint) {
	at := uint(c.from) & uint(len(c.slots)-1)
	w := at / 64
	word := c.used[w] >> (at % 64) << (at % 64)
	for word == 0 {
		w = (w + 1) & uint(len(c.used)-1)
		word = c.used[w]
	}
	return w*64 + uint(bits.TrailingZeros64(word))
}

// Where a network is large, what an event needs is in no near cache, and the processor would
// wait for one line after another. So the calendar has the timers fetched that are due soon,
// and some timers later what these will need.
const (
	large  = 1000 // entries
	within = 64   // slots ahead
)

// prepare looks for the next slot that has entries, if it is not far ahead.
func (c *calendar) prepare() {
	at := max(c.ahead, c.from+1)
	if at >= c.from+within {
		return
	}
	s := uint(at) & uint(len(c.slots)-1)
	word := c.used[s/64] >> (s % 64)
	if word == 0 {
		c.ahead = at + 64 - int64(s%64)
		return
	}
	c.ahead = at + int64(bits.TrailingZeros64(word)) + 1
	q := &c.slots[int(c.ahead-1)&(len(c.slots)-1)]
	c.touch(q.t)
	for i := q.head; i != 0; i = c.nodes[i].next {
		c.touch(c.nodes[i].t)
	}
}

// touch has a timer fetched, and what an earlier one will need.
func (c *calendar) touch(t *Timer) {
	Prefetch(t)
	i := c.turn % len(c.coming)
	c.turn++
	before := c.coming[i]
	c.coming[i] = t
	if before != nil {
		before.action.Near()
	}
}

// drop takes the first entry of a slot out.
func (c *calendar) drop(s uint) {
	c.count--
	q := &c.slots[s]
	i := q.head
	if i == 0 {
		c.used[s/64] &^= 1 << (s % 64)
		return
	}
	n := &c.nodes[i]
	q.entry, q.head = n.entry, n.next
	n.next, c.free = c.free, i
}

// cancel takes a timer's entry out, if it is here.
func (c *calendar) cancel(t *Timer) bool {
	if c.count == 0 {
		return false
	}
	s := c.slot(t.at)
	q := &c.slots[s]
	switch {
	case c.used[s/64]>>(s%64)&1 == 0:
		return false
	case q.key == t.key:
		c.drop(s)
		return true
	}
	before := int32(0)
	for i := q.head; i != 0; before, i = i, c.nodes[i].next {
		if c.nodes[i].key == t.key {
			c.leave(q, before, i)
			return true
		}
	}
	return false
}

// leave takes a node out of the list of a slot, in which another one is before it, or none.
func (c *calendar) leave(q *slot, before, i int32) {
	c.count--
	n := &c.nodes[i]
	if before == 0 {
		q.head = n.next
	} else {
		c.nodes[before].next = n.next
	}
	if q.tail == i {
		q.tail = before
	}
	n.next, c.free = c.free, i
}

// How many slots there are. While the ring fits the nearest cache, every entry has many of
// them. In a large one entries of the same nanosecond share slots anyway.
const (
	fewest = 64
	small  = 1 << 14
	most   = 1 << 16
	sparse = 16 // slots for an entry, in a small ring
	dense  = 2  // the same in a large one

	period = 1 << 10 // entries that are scheduled between two fits
	begin  = 8       // shift of the first ring, which reaches 16 us
)

// fit tells which slots suit what was scheduled lately. The ring should reach most of
// it, and not much farther. Where slots get crowded, it reaches less far.
func (c *calendar) fit() (slots int, shift uint8) {
	if slots, shift = len(c.slots), c.shift; slots == 0 {
		return fewest, begin
	}
	want := max(min(sparse*c.count, small), dense*c.count)
	for slots < most && slots < want {
		slots *= 2
	}
	for slots > fewest && slots > 4*want {
		slots /= 2
	}
	far := c.beyond > period/16
	switch {
	case c.walked > period:
		shift -= min(shift, 1)
	case far && c.walked <= period/4:
		shift = min(shift+1, 40)
	case !far && shift > 0 && c.reach<<c.shift < int64(slots)<<shift/4:
		shift--
	}
	c.beyond, c.reach, c.walked = 0, 0, 0
	return slots, shift
}

// resize makes other slots, and returns the entries, in their order.
func (c *calendar) resize(now time.Duration, slots int, shift uint8) []entry {
	all := make([]entry, 0, c.count)
	for c.count > 0 {
		s := c.first()
		c.from = int64(c.slots[s].at) >> c.shift
		all = append(all, c.slots[s].entry)
		c.drop(s)
	}
	c.slots, c.used, c.shift = make([]slot, slots), make([]uint64, slots/64), shift
	c.nodes = append(c.nodes, node{})[:max(1, len(c.nodes))]
	c.from, c.ahead = int64(now)>>shift, 0
	return all
}
