package tcp

import (
	"slices"

	"aqmlab/switch/packet"
)

// dupThresh is how many duplicate acknowledgements, or SACKed segments above a
// byte, say that it is lost (RFC 6675, section 2).
const dupThresh = 3

// phase is the state of a sender's loss recovery.
type phase uint8

const (
	open       phase = iota // nothing
	recovering              // fast recovery (RFC 6675, section 5)
	reviving                // going back after a timeout
)

// scoreboard is what a sender knows about bytes beyond the acknowledged ones. It
// has its names from RFC 6675, section 2; where the RFC names the last byte of
// something, these are the byte behind.
type scoreboard struct {
	phase         phase
	sacked        spans
	lost          int64 // below it, what is not SACKed is lost
	highRxt       int64 // sent again in this phase up to here
	rescueRxt     int64
	recoveryPoint int64 // acknowledging up to here ends the phase
	dupAcks       int
	highData      int64 // sent before the first of the duplicate ACKs
}

func (b *scoreboard) reset() { *b = scoreboard{sacked: spans{b.sacked.runs[:0]}} }

// sack takes the SACK blocks of a segment, for bytes above those that are
// acknowledged, and tells whether they say anything new.
func (b *scoreboard) sack(s *packet.Segment, una, mss int64) (news bool) {
	for _, k := range s.SACK[:s.Blocks] {
		k.First = max(k.First, una)
		if k.First >= k.End {
			continue
		}
		_, added := b.sacked.add(k)
		news = news || added > 0
	}
	if news {
		b.lost = max(b.lost, b.isLost(mss))
	}
	return news
}

// isLost is the byte below which IsLost (RFC 6675, section 4) holds for all that
// is not SACKed: above it lie dupThresh runs, or more than dupThresh - 1 full
// segments, that are.
func (b *scoreboard) isLost(mss int64) int64 {
	runs, bytes := b.sacked.runs, int64(0)
	for i := len(runs) - 1; i >= 0; i-- {
		bytes += runs[i].End - runs[i].First
		if len(runs)-i >= dupThresh || bytes > (dupThresh-1)*mss {
			return runs[i].First
		}
	}
	return 0
}

// pipe estimates the bytes in the network (SetPipe of RFC 6675, section 4):
// those sent and neither SACKed nor lost, and those sent again and not SACKed.
// After a timeout, all that was outstanding counts as lost.
func (b *scoreboard) pipe(una, nxt int64) int64 {
	if b.phase == open && len(b.sacked.runs) == 0 {
		return nxt - una
	}
	kept := max(b.lost, una)
	n := nxt - kept - b.sacked.within(kept, nxt)
	if b.phase != open && b.highRxt > una {
		n += b.highRxt - una - b.sacked.within(una, b.highRxt)
	}
	return n
}

// acked takes a cumulative acknowledgement and tells whether it ends the phase.
func (b *scoreboard) acked(una int64) (over bool) {
	b.dupAcks = 0
	if len(b.sacked.runs) > 0 {
		b.sacked.trim(una)
	}
	if b.phase == open || una < b.recoveryPoint {
		return false
	}
	b.phase = open
	return true
}

// revive begins to go back after a timeout: all that is not SACKed counts as
// lost.
func (b *scoreboard) revive(una, nxt int64) {
	b.phase, b.recoveryPoint = reviving, nxt
	b.lost, b.highRxt, b.dupAcks = nxt, una, 0
}

// duplicate counts a duplicate acknowledgement, which is one with new SACK
// information, and tells whether a loss follows from it.
func (b *scoreboard) duplicate(una, nxt int64) (loss bool) {
	if b.phase != open {
		return false
	}
	if b.dupAcks == 0 {
		b.highData = nxt
	}
	b.dupAcks++
	return b.dupAcks >= dupThresh || b.lost > una
}

// repair is the first byte to send again and the byte behind the run that it
// begins, when something is (rule 1 of NextSeg, RFC 6675, section 4). After a
// timeout only what was outstanding then is.
func (b *scoreboard) repair(una int64) (gap packet.Block, ok bool) {
	lost := b.lost
	if b.phase == reviving {
		lost = min(lost, b.recoveryPoint)
	}
	gap = b.sacked.gap(max(b.highRxt, una), lost)
	return gap, gap.First < lost
}

// guess chooses the bytes to send again when nothing is known to be lost and nothing
// new can be sent (rules 3 and 4 of NextSeg). rescue says that they are the one rescue
// of a phase: the last segment that is not SACKed.
func (b *scoreboard) guess(una, nxt, mss int64) (gap packet.Block, rescue, ok bool) {
	if b.phase != recovering {
		return gap, false, false
	}
	if top := b.sacked.top(); b.highRxt < top {
		if gap = b.sacked.gap(max(b.highRxt, una), top); gap.First < top {
			return gap, false, true
		}
	}
	if una <= b.rescueRxt {
		return gap, false, false
	}
	gap = packet.Block{First: una, End: nxt}
	if runs := b.sacked.runs; len(runs) > 0 {
		last := runs[len(runs)-1]
		if gap.First = last.End; last.End == nxt {
			gap = packet.Block{First: una, End: last.First}
			if len(runs) > 1 {
				gap.First = runs[len(runs)-2].End
			}
		}
	}
	gap.First = max(gap.First, gap.End-mss)
	return gap, true, gap.First < gap.End
}

// spans is a set of bytes, as runs in rising order that neither overlap nor
// touch. It keeps its storage when it is emptied.
type spans struct{ runs []packet.Block }

// add joins b to the set. It returns the run that b is in now, and how many
// bytes are new.
func (s *spans) add(b packet.Block) (run packet.Block, added int64) {
	first := s.from(b.First)
	last := first // behind the runs that b overlaps or touches
	added = b.End - b.First
	for last < len(s.runs) && s.runs[last].First <= b.End {
		r := s.runs[last]
		added -= max(0, min(r.End, b.End)-max(r.First, b.First))
		last++
	}
	if first == last {
		s.runs = slices.Insert(s.runs, first, b)
		return b, added
	}
	run = packet.Block{First: min(b.First, s.runs[first].First), End: max(b.End, s.runs[last-1].End)}
	s.runs[first] = run
	s.runs = slices.Delete(s.runs, first+1, last)
	return run, added
}

// from is the index of the first run that ends at or behind a byte. Runs are
// looked at from the top, where almost all that comes belongs.
func (s *spans) from(seq int64) int {
	i := len(s.runs)
	for i > 0 && s.runs[i-1].End >= seq {
		i--
	}
	return i
}

// trim forgets the runs that end at or before a byte.
func (s *spans) trim(seq int64) {
	n := 0
	for n < len(s.runs) && s.runs[n].End <= seq {
		n++
	}
	if n > 0 {
		s.runs = slices.Delete(s.runs, 0, n)
	}
}

// top is the end of the highest run, or zero when there is none.
func (s *spans) top() int64 {
	if len(s.runs) == 0 {
		return 0
	}
	return s.runs[len(s.runs)-1].End
}

// within counts the bytes of the set from one up to but not including another.
func (s *spans) within(from, to int64) (n int64) {
	for i := len(s.runs) - 1; i >= 0 && s.runs[i].End > from; i-- {
		n += max(0, min(s.runs[i].End, to)-max(s.runs[i].First, from))
	}
	return n
}

// gap is the first run of bytes from seq on that are not in the set, up to but
// not including end.
func (s *spans) gap(seq, end int64) packet.Block {
	for _, r := range s.runs {
		if seq < r.First {
			return packet.Block{First: seq, End: min(r.First, end)}
		}
		seq = max(seq, r.End)
	}
	return packet.Block{First: seq, End: end}
}
