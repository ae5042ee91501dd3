package sim

import "slices"

// sessions holds the connections of a simulation: those in use by the number
// that their packets carry, those of persistent pairs in the order in which
// they were opened, and closed ones for reuse. Its size is bound by how many
// are open at once, not by how many there have been.
type sessions struct {
	slots []*session
	free  []*session
	pairs map[ends][]*session
	seed  uint64
}

// A packet carries the slot of its connection in the low bits of Conn and the
// slot's generation above, so that a straggler of a closed connection is not
// taken for one of the next.
const (
	slotBits = 20
	maxSlots = 1 << slotBits
	genMask  = 1<<(31-slotBits) - 1
)

func newSessions(seed uint64) sessions {
	return sessions{pairs: map[ends][]*session{}, seed: seed}
}

// find is the session that a packet belongs to, or nil when that is closed.
func (l *sessions) find(conn int32) *session {
	if s := l.slots[conn&(maxSlots-1)]; s.conn == conn {
		return s
	}
	return nil
}

// take is an idle session between a pair, or nil.
func (l *sessions) take(pair ends) *session {
	for _, s := range l.pairs[pair] {
		if s.flow == idle {
			return s
		}
	}
	return nil
}

// keep adds a session to those of its pair, and returns how many these are.
func (l *sessions) keep(s *session) int {
	l.pairs[s.pair] = append(l.pairs[s.pair], s)
	return len(l.pairs[s.pair])
}

// drop takes a session from those of its pair.
func (l *sessions) drop(s *session) {
	l.pairs[s.pair] = slices.DeleteFunc(l.pairs[s.pair], func(o *session) bool { return o == s })
}

// get is a closed session, or a new one.
func (l *sessions) get(owner *Simulation) *session {
	if n := len(l.free); n > 0 {
		s := l.free[n-1]
		l.free = l.free[:n-1]
		return s
	}
	if len(l.slots) == maxSlots {
		panic("a million connections are open at once")
	}
	s := newSession(owner, int32(len(l.slots)))
	l.slots = append(l.slots, s)
	return s
}

// put takes back a session that is closed.
func (l *sessions) put(s *session) {
	slot, gen := s.conn&(maxSlots-1), s.conn>>slotBits
	s.conn = (gen+1)&genMask<<slotBits | slot
	l.free = append(l.free, s)
}

// hash spreads connections over equal paths. It depends on what the connection
// is for and not on when it was opened, so that all schemes get the same paths.
func (l *sessions) hash(parts ...uint64) uint32 {
	h := l.seed
	for _, p := range parts {
		h = mix(h ^ mix(p+1))
	}
	return uint32(h >> 32)
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): every
// input bit changes every output bit with probability about a half.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
