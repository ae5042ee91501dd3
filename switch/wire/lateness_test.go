//go:build linux

package wire

import (
	"math"
	"slices"
	"testing"
	"time"
)

// TestLateness: quantiles are within a thousandth of those of all values, whatever
// their size.
func TestLateness(t *testing.T) {
	for name, f := range map[string]func(i int) time.Duration{
		"small":   func(i int) time.Duration { return time.Duration(i) },
		"wide":    func(i int) time.Duration { return time.Duration(math.Exp(float64(i) / 400)) },
		"equal":   func(int) time.Duration { return 12345678 },
		"longest": func(int) time.Duration { return math.MaxInt64 },
		"early":   func(i int) time.Duration { return time.Duration(-i) },
	} {
		t.Run(name, func(t *testing.T) {
			const n = 10000
			var l lateness
			all := make([]time.Duration, n)
			for i := range all {
				all[i] = max(0, f(i))
				l.note(f(i))
			}
			slices.Sort(all)
			for _, share := range []float64{0.5, 0.99, 1} {
				want := all[int(math.Ceil(share*n))-1]
				if got := l.quantile(share); got < want || float64(got-want) > float64(want)/1000 {
					t.Errorf("%v of all: %v, want %v", share, got, want)
				}
			}
			if l.noted != n || l.longest != all[n-1] {
				t.Errorf("%d noted, the longest %v", l.noted, l.longest)
			}
		})
	}
	if got := new(lateness).quantile(0.99); got != 0 {
		t.Errorf("of none: %v", got)
	}
}
