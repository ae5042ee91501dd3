package tcp

import (
	"slices"

	"aqmlab/switch/packet"
)

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
