package tcp

import (
	"sort"
	"time"
)

// segment is data that was sent and is not acknowledged, with what RFC 8985,
// section 5.2, wants to be known of it.
type segment struct {
	first, end   int64
	at           time.Duration // when it was last sent
	turn         int64         // how many were sent before that
	older, newer int           // what was sent before and behind it, of what is under way
	resent       bool          // sent more than once
	sacked       bool
	lost         bool // found lost, and not sent again since
}

// none is the number of no segment.
const none = -1

// transit holds the segments that were sent and are not acknowledged. They are
// numbered in the order of their bytes. Segments that are neither SACKed nor lost are
// under way. They also stand in a list in the order of sending, so that its first is
// the first to be late. The storage is kept for the next connection.
type transit struct {
	ring           []segment // number i is at i modulo the length, a power of two
	head, tail     int       // the first number, and the one behind the last
	oldest, newest int       // ends of the list
	pipe           int64     // bytes under way
	sacked, lost   int       // segments
	search         int       // no number below it is lost
	losses         int64     // bytes found lost so far
	turn           int64     // how often anything was sent
}

func (t *transit) reset() { *t = transit{ring: t.ring, oldest: none, newest: none} }

func (t *transit) get(i int) *segment { return &t.ring[i&(len(t.ring)-1)] }

// send adds a segment that follows all others.
func (t *transit) send(now time.Duration, first, end int64) {
	if t.tail-t.head == len(t.ring) {
		t.grow()
	}
	s := t.get(t.tail)
	*s = segment{first: first, end: end, at: now}
	t.link(t.tail, s)
	t.tail++
}

func (t *transit) grow() {
	larger := transit{ring: make([]segment, max(16, 2*len(t.ring)))}
	for i := t.head; i < t.tail; i++ {
		*larger.get(i) = *t.get(i)
	}
	t.ring = larger.ring
}

// resend notes that a segment is sent again.
func (t *transit) resend(now time.Duration, i int) {
	s := t.get(i)
	t.remove(s)
	s.at, s.resent = now, true
	t.link(i, s)
}

// sack notes that a segment arrived before others that are missing.
func (t *transit) sack(s *segment) {
	t.remove(s)
	s.sacked = true
	t.sacked++
}

// lose notes that a segment under way is lost.
func (t *transit) lose(i int) {
	s := t.get(i)
	t.remove(s)
	s.lost = true
	t.lost++
	t.losses += s.end - s.first
	t.search = min(t.search, i)
}

// pop forgets the first segment.
func (t *transit) pop(s *segment) {
	if s.sacked {
		t.sacked--
	} else {
		t.remove(s)
	}
	t.head++
}

// remove takes a segment that is not SACKed from those that are under way, or from
// those that are lost.
func (t *transit) remove(s *segment) {
	if s.lost {
		s.lost = false
		t.lost--
		return
	}
	t.pipe -= s.end - s.first
	if s.older == none {
		t.oldest = s.newer
	} else {
		t.get(s.older).newer = s.newer
	}
	if s.newer == none {
		t.newest = s.older
	} else {
		t.get(s.newer).older = s.older
	}
}

// link puts a segment at the end of those that are under way.
func (t *transit) link(i int, s *segment) {
	t.pipe += s.end - s.first
	t.turn++
	s.turn = t.turn
	s.older, s.newer = t.newest, none
	if t.newest == none {
		t.oldest = i
	} else {
		t.get(t.newest).newer = i
	}
	t.newest = i
}

// firstLost is the first segment that is lost; there must be one.
func (t *transit) firstLost() int {
	t.search = max(t.search, t.head)
	for !t.get(t.search).lost {
		t.search++
	}
	return t.search
}

// find is the first segment that ends at or behind a byte.
func (t *transit) find(seq int64) int {
	return t.head + sort.Search(t.tail-t.head, func(i int) bool { return t.get(t.head+i).end >= seq })
}
