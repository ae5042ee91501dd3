package aqm

import (
	"math"
	"slices"
	"testing"
	"time"
)

const tick = 1024 * time.Nanosecond

// TestTofinoClock: ticks of 1.024 us in 22 bits, wraps in 10 (ECN#, Algorithm 2).
func TestTofinoClock(t *testing.T) {
	const wrap = 1 << 32 // nanoseconds
	type read struct {
		at   time.Duration
		want uint32
	}
	tests := []struct {
		name    string
		printed bool
		reads   []read
	}{
		{"ticks", false, []read{{0, 0}, {1023, 0}, {1024, 1}, {time.Second, 976562}}},
		{"wraps", false, []read{{wrap - 1, 1<<22 - 1}, {wrap, 1 << 22}, {wrap + 1024, 1<<22 + 1}, {2*wrap - 1, 2<<22 - 1}, {2 * wrap, 2 << 22}}},
		{"same tick", false, []read{{5000, 4}, {5100, 4}, {6000, 5}}},
		{"same tick as printed", true, []read{{5000, 4}, {5100, 1<<22 + 4}, {6000, 1<<22 + 5}}},
		{"wrap as printed", true, []read{{wrap - 1, 1<<22 - 1}, {wrap, 1 << 22}}},
		{"a long pause hides a wrap", false, []read{{1024, 1}, {wrap + 2048, 2}}},
	}
	for _, tt := range tests {
		c := tofinoClock{printed: tt.printed}
		for _, r := range tt.reads {
			if got := c.read(r.at); got != r.want {
				t.Errorf("%s: at %v: %d, want %d", tt.name, r.at, got, r.want)
			}
		}
	}
}

// All 32 bits wrap after 1024 wraps of the low half: 4398 s.
func TestTofinoClockWrapsWhole(t *testing.T) {
	c := tofinoClock{high: 1<<10 - 1, low: 1<<22 - 1}
	if got := c.read(0); got != 0 {
		t.Errorf("got %d, want 0", got)
	}
	if !after(c.read(tick), 1<<32-1) {
		t.Error("a tick after the wrap is not after one before it")
	}
}

// 2^32 ns, and 2^32 ticks of 1.024 us, which the paper rounds to 4 s and, taking a
// tick for a microsecond, to 4295 s.
func TestTofinoClockWraps(t *testing.T) {
	if stamp, whole := TofinoClockWraps(); stamp != 1<<32 || whole != 1<<42 {
		t.Errorf("wraps after %v and %v, want 4.29 s and 4398 s", stamp, whole)
	}
}

// By hand: entries of 1000 are ceil(1000/i). 352 is 1.0110 0000 in binary, with
// the index 11 and the entry 91; the quotient has five bits less.
func TestTofinoQuotient(t *testing.T) {
	for marks, want := range map[uint32]uint32{1: 1000, 2: 500, 3: 336, 17: 62, 352: 91 >> 5} {
		if got := TofinoQuotient(1000, marks); got != want {
			t.Errorf("1000/%d = %d, want %d", marks, got, want)
		}
	}
}

// With the interval and the marks of the paper's Fig. 6 whole ticks cost more than
// the table: up to 30 % where the quotient is 2.84, and 2.4 ticks where it is below
// 50, at which the figure's axis ends.
func TestTofinoQuotientAsDrawn(t *testing.T) {
	lowest, highest, mean, ticks := 0.0, 0.0, 0.0, 0.0
	for n := uint32(1); n <= 400; n++ {
		exact, got := 1000/float64(n), float64(TofinoQuotient(1000, n))
		off := (got/exact - 1) * 100
		lowest, highest, mean = min(lowest, off), max(highest, off), mean+math.Abs(off)/400
		if exact <= 50 {
			ticks = max(ticks, math.Abs(got-exact))
		}
	}
	for name, v := range map[string][2]float64{"lowest": {lowest, -29.6}, "highest": {highest, 11.3}, "mean": {mean, 8.2}, "ticks": {ticks, 2.4}} {
		if math.Abs(v[0]-v[1]) > 0.05 {
			t.Errorf("%s: %.2f, want %v", name, v[0], v[1])
		}
	}
}

// TestTofinoDivision: the quotient is never too small before its last shift
// drops a fraction, and for counts to 400 too large by at most 12.1 %, that is,
// 287/256, where the interval makes the first entry a whole number. Entries fit
// seven bits.
func TestTofinoDivision(t *testing.T) {
	for _, interval := range []uint32{64, 200, 240, 504, 512, 800, 1000, 1016, 2000, 1016 << 10} {
		d := newDivider(interval, false)
		for i, entry := range d.table {
			if entry > 127 || i < 8 && entry != 0 {
				t.Errorf("interval %d: entry %d is %d", interval, i, entry)
			}
		}
		for n := uint32(1); n <= 400; n++ {
			exact, got := float64(interval)/float64(n), float64(d.by(n))
			if got <= exact-1 || got*float64(n)*256 > 287*float64(interval) {
				t.Errorf("%d/%d = %v, want %.2f to %.2f", interval, n, got, exact-1, exact*287/256)
			}
		}
	}
}

// With any interval the error is that of the index, under an eighth, and of
// rounding an entry up, at most 1/34.
func TestTofinoDivisionOfAnyInterval(t *testing.T) {
	for interval := uint32(1); interval < 5000; interval++ {
		d := newDivider(interval, false)
		for n := uint32(1); n <= 64; n++ {
			exact, got := float64(interval)/float64(n), float64(d.by(n))
			if got <= exact-1 || got > exact*9/8*35/34 {
				t.Fatalf("%d/%d = %v", interval, n, got)
			}
		}
	}
}

// As printed, the table is right from 509 to 1016 and 71 % to 75 % too small
// for 200.
func TestTofinoDivisionAsPrinted(t *testing.T) {
	for _, interval := range []uint32{509, 1000, 1016} {
		if newDivider(interval, true) != newDivider(interval, false) {
			t.Errorf("interval %d: the tables differ", interval)
		}
	}
	d := newDivider(200, true)
	want := [16]uint8{8: 25, 23, 20, 19, 17, 16, 15, 14}
	if d.table != want {
		t.Errorf("table %v, want %v", d.table, want)
	}
	if got := d.by(1); got != 50 {
		t.Errorf("200/1 = %d, want 50", got)
	}
}

// TestTofinoGaps works an episode by hand. The interval is 100 ticks; table
// entries are ceil(800/i): 100 89 80 73 67 62 58 54, and quotients of 2, 3, ...
// 7 are 50, 33, 25, 20, 16, 14. Detection is beyond 5 + 100.
func TestTofinoGaps(t *testing.T) {
	s := build(t, "ecn-sharp", persistentOnly(map[string]any{"arithmetic": "tofino"}))
	var got []int
	for n := 5; n < 366; n++ {
		if departs(s, time.Duration(n)*tick, standing+1) {
			got = append(got, n)
		}
	}
	if want := []int{106, 207, 257, 290, 315, 335, 351, 365}; !slices.Equal(got, want) {
		t.Errorf("marks at ticks %v, want %v", got, want)
	}
}

// Exactly at the target does not count (ECN#, Figure 5), unlike in Algorithm 1.
func TestTofinoTargetIsStrict(t *testing.T) {
	s := build(t, "ecn-sharp", persistentOnly(map[string]any{"arithmetic": "tofino"}))
	if got := everyMicrosecond(s, 0, 500, standing); got != nil {
		t.Errorf("marks at %v", got)
	}
}

// Two packets in a tick push the printed clock on by 4.29 s, beyond the end of
// the interval.
func TestTofinoPrintedClockMarksEarly(t *testing.T) {
	for clock, want := range map[string]bool{"less": false, "printed": true} {
		s := build(t, "ecn-sharp", persistentOnly(map[string]any{"arithmetic": "tofino", "clock": clock}))
		departs(s, 5*tick, standing+1)
		if got := departs(s, 5*tick+1, standing+1); got != want {
			t.Errorf("%s: %v, want %v", clock, got, want)
		}
	}
}

// TestTofinoWrapWithinAnEpisode: marks come at the same distances when the 32-bit
// clock, deadline and next marking time wrap around between them, after 4398 s. A
// deadline of just zero reads as none, so that the next packet sets another one.
func TestTofinoWrapWithinAnEpisode(t *testing.T) {
	distances := func(first uint32) (ticks []int) {
		s := build(t, "ecn-sharp", persistentOnly(map[string]any{"arithmetic": "tofino"}))
		s.(*ecnSharp).persistent.(*tofino).clock = tofinoClock{high: first >> 22, low: first & (1<<22 - 1)}
		low := time.Duration(first & (1<<22 - 1))
		for n := range time.Duration(400) {
			if departs(s, (low+n)*tick, standing+1) {
				ticks = append(ticks, int(n))
			}
		}
		return ticks
	}
	want := distances(5)
	if len(want) < 8 {
		t.Fatalf("marks at %v only", want)
	}
	for before := range uint32(400) { // the wrap comes at every place
		got, want := distances(-before-1), slices.Clone(want)
		if before == 99 { // the deadline is 100 ticks after the first packet
			for i := range want {
				want[i]++
			}
			got = got[:len(want)]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d ticks before the wrap: marks at %v, want %v", before, got, want)
		}
	}
}

// TestTofinoCountIsFull: a register of 32 bits that counts the marks of an episode
// stays at its most; a gap is less than a tick by then.
func TestTofinoCountIsFull(t *testing.T) {
	s := build(t, "ecn-sharp", persistentOnly(map[string]any{"arithmetic": "tofino"}))
	q := &s.(*ecnSharp).persistent.(*tofino).queues[0]
	*q = tofinoQueue{deadline: 1, marking: true, count: 1<<32 - 2, next: 5}
	for n := 10; n < 13; n++ {
		if !departs(s, time.Duration(n)*tick, standing+1) || q.next != 5 {
			t.Errorf("count %d: not marked, or next at %d", q.count, q.next)
		}
	}
}

func TestTofinoAllocatesNothing(t *testing.T) {
	s := build(t, "ecn-sharp", map[string]any{"arithmetic": "tofino"})
	if n := testing.AllocsPerRun(100, func() { departs(s, 0, time.Second) }); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
