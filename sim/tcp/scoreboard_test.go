package tcp

import (
	"math/rand/v2"
	"testing"

	"aqmlab/switch/packet"
)

// TestSpans compares a set of runs with a set of bytes.
func TestSpans(t *testing.T) {
	const size = 64
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var s spans
		var bytes [size]bool
		for range 20 {
			first := rng.Int64N(size - 1)
			b := packet.Block{First: first, End: first + 1 + rng.Int64N(min(9, size-first-1)+1)}
			b.End = min(b.End, size)
			added := int64(0)
			for i := b.First; i < b.End; i++ {
				if !bytes[i] {
					bytes[i] = true
					added++
				}
			}
			run, got := s.add(b)
			if got != added || run.First > b.First || run.End < b.End {
				t.Fatalf("adding %v gave %v, %d new; want %d", b, run, got, added)
			}
			if rng.IntN(8) == 0 {
				to := s.runs[0].End
				s.trim(to)
				clear(bytes[:to])
			}
			compare(t, &s, bytes[:])
		}
	}
}

func compare(t *testing.T, s *spans, bytes []bool) {
	t.Helper()
	count := func(from, to int64) (n int64) {
		for _, b := range bytes[from:to] {
			if b {
				n++
			}
		}
		return n
	}
	size := int64(len(bytes))
	last := int64(-1)
	for _, r := range s.runs {
		if r.First <= last || r.First >= r.End || count(r.First, r.End) != r.End-r.First {
			t.Fatalf("runs %v for %v", s.runs, bytes)
		}
		last = r.End
	}
	if s.within(0, size) != count(0, size) || s.within(size/4, size/2) != count(size/4, size/2) {
		t.Fatalf("runs %v count %d for %v", s.runs, s.within(0, size), bytes)
	}
	for seq := range size {
		g := s.gap(seq, size)
		if count(seq, min(g.First, size)) != min(g.First, size)-seq || g.First < g.End && count(g.First, g.End) != 0 {
			t.Fatalf("runs %v: gap %v from %d", s.runs, g, seq)
		}
		if g.End < size && !bytes[g.End] {
			t.Fatalf("runs %v: gap %v from %d is longer", s.runs, g, seq)
		}
	}
}

// TestIsLost: RFC 6675, section 4: three runs above, or more than two full
// segments.
func TestIsLost(t *testing.T) {
	for name, tt := range map[string]struct {
		runs []packet.Block
		want int64
	}{
		"nothing":                {nil, 0},
		"two segments":           {[]packet.Block{run(1, 3)}, 0},
		"a byte more":            {[]packet.Block{{First: 1000, End: 3001}}, 1000},
		"three runs":             {[]packet.Block{{First: 1000, End: 1001}, {First: 2000, End: 2001}, {First: 3000, End: 3001}}, 1000},
		"only below the third":   {[]packet.Block{run(1, 2), run(3, 4), run(5, 6), run(7, 8)}, 3000},
		"bytes of several runs":  {[]packet.Block{run(1, 2), run(3, 5), run(6, 7)}, 3000},
		"exactly two full above": {[]packet.Block{run(2, 3), run(4, 5)}, 0},
	} {
		b := scoreboard{sacked: spans{tt.runs}}
		if got := b.isLost(mss); got != tt.want {
			t.Errorf("%s: lost below %d, want %d", name, got, tt.want)
		}
	}
}

// TestPipe: RFC 6675, section 4, SetPipe, by hand; 20 segments are sent and 2
// acknowledged.
func TestPipe(t *testing.T) {
	runs := []packet.Block{run(5, 7), run(10, 13)}
	for name, tt := range map[string]struct {
		b    scoreboard
		want int64
	}{
		"no SACK":                 {scoreboard{}, 18},
		"SACKed":                  {scoreboard{sacked: spans{runs}}, 13},
		"lost":                    {scoreboard{sacked: spans{runs}, lost: 10 * mss}, 7}, // 13 to 19
		"sent again":              {scoreboard{sacked: spans{runs}, lost: 10 * mss, highRxt: 8 * mss, phase: recovering}, 7 + 4},
		"lost again":              {scoreboard{sacked: spans{runs}, lost: 20 * mss, highRxt: 2 * mss, phase: reviving}, 0},
		"sent again once more":    {scoreboard{sacked: spans{runs}, lost: 20 * mss, highRxt: 3 * mss, phase: reviving}, 1},
		"old marks do not matter": {scoreboard{lost: mss, highRxt: 8 * mss}, 18},
	} {
		if got := tt.b.pipe(2*mss, 20*mss); got != tt.want*mss {
			t.Errorf("%s: %d in the pipe, want %d", name, got/mss, tt.want)
		}
	}
}

// TestRescue: the rescue includes the last byte that is not SACKed.
func TestRescue(t *testing.T) {
	for name, tt := range map[string]struct {
		runs []packet.Block
		want packet.Block
	}{
		"no SACK":          {nil, packet.Block{First: 8500, End: 9500}},
		"end not SACKed":   {[]packet.Block{run(2, 3)}, packet.Block{First: 8500, End: 9500}},
		"end barely open":  {[]packet.Block{run(2, 9)}, packet.Block{First: 9000, End: 9500}},
		"end SACKed":       {[]packet.Block{{First: 7200, End: 9500}}, packet.Block{First: 6200, End: 7200}},
		"between two runs": {[]packet.Block{run(2, 7), {First: 7200, End: 9500}}, packet.Block{First: 7000, End: 7200}},
	} {
		b := scoreboard{phase: recovering, sacked: spans{tt.runs}, highRxt: 9500, recoveryPoint: 9500}
		gap, rescue, ok := b.guess(mss, 9500, mss)
		if !ok || !rescue || gap != tt.want {
			t.Errorf("%s: %v, %v, %v; want %v", name, gap, rescue, ok, tt.want)
		}
		b.rescueRxt = 9500
		if _, _, ok := b.guess(mss, 9500, mss); ok {
			t.Errorf("%s: a second rescue", name)
		}
	}
}
