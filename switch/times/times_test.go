package times

import (
	"math"
	"slices"
	"testing"
	"time"
)

// TestQuantiles: quantiles are within a thousandth of those of all values, whatever
// their size.
func TestQuantiles(t *testing.T) {
	for name, f := range map[string]func(i int) time.Duration{
		"small":   func(i int) time.Duration { return time.Duration(i) },
		"wide":    func(i int) time.Duration { return time.Duration(math.Exp(float64(i) / 400)) },
		"equal":   func(int) time.Duration { return 12345678 },
		"longest": func(int) time.Duration { return math.MaxInt64 },
		"early":   func(i int) time.Duration { return time.Duration(-i) },
	} {
		t.Run(name, func(t *testing.T) {
			const n = 10000
			l := New(10)
			all := make([]time.Duration, n)
			for i := range all {
				all[i] = max(0, f(i))
				l.Note(f(i))
			}
			slices.Sort(all)
			for _, share := range []float64{0.5, 0.99, 1} {
				want := all[int(math.Ceil(share*n))-1]
				if got := l.Quantile(share); got < want || float64(got-want) > float64(want)/1000 {
					t.Errorf("%v of all: %v, want %v", share, got, want)
				}
			}
			if l.Noted() != n || l.Longest() != all[n-1] {
				t.Errorf("%d noted, the longest %v", l.Noted(), l.Longest())
			}
		})
	}
	if got := New(10).Quantile(0.99); got != 0 {
		t.Errorf("of none: %v", got)
	}
}

// TestSince: of two looks, what was counted between them has the quantiles that it has
// by itself.
func TestSince(t *testing.T) {
	all, later := New(6), New(6)
	for i := range 1000 {
		all.Note(time.Duration(i * i))
	}
	before := all.Counts()
	for i := range 300 {
		all.Note(time.Duration(7 * i))
		later.Note(time.Duration(7 * i))
	}
	between := all.Counts().Since(before)
	for _, share := range []float64{0, 0.5, 0.99} {
		if got, want := between.Quantile(share), later.Quantile(share); got != want {
			t.Errorf("%v of what came between: %v, want %v", share, got, want)
		}
	}
	if got := between.Quantile(1); got < 2093 || got > 2093*65/64 {
		t.Errorf("the longest between is %v, want 2093ns to within a 64th", got)
	}
	if got := all.Counts().Since(all.Counts()).Quantile(1); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
	if got := all.Counts().Since(New(6).Counts()).Quantile(1); got != all.Longest() {
		t.Errorf("of all: %v, want %v", got, all.Longest())
	}
}

// TestNoteAllocatesNothing: a time costs no memory.
func TestNoteAllocatesNothing(t *testing.T) {
	h := New(6)
	if n := testing.AllocsPerRun(1000, func() { h.Note(time.Duration(h.Noted() * 1e6)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
