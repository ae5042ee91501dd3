//go:build linux

package wire

import (
	"math"
	"math/bits"
	"time"
)

// lateness counts deliveries by how late they were, to a thousandth of each value.
// It holds all times in the same memory.
type lateness struct {
	counts  [(64 - mantissa) << mantissa]int64
	noted   int64
	longest time.Duration
}

// mantissa is how many bits of a value below its highest one are told apart.
const mantissa = 10

// note counts one delivery.
func (l *lateness) note(late time.Duration) {
	late = max(late, 0)
	l.counts[bucket(uint64(late))]++
	l.noted++
	l.longest = max(l.longest, late)
}

// bucket is the index of a value: values below 2^(mantissa+1) have one each, then as
// many buckets each double the width.
func bucket(v uint64) int {
	shift := max(0, bits.Len64(v)-mantissa-1)
	return shift<<mantissa + int(v>>shift)
}

// quantile is a value that this share of all deliveries was at most late by; zero if
// there were none.
func (l *lateness) quantile(share float64) time.Duration {
	left := int64(math.Ceil(share * float64(l.noted)))
	for i, n := range l.counts {
		if left -= n; left <= 0 {
			shift := max(0, i>>mantissa-1)
			last := uint64(i-shift<<mantissa+1)<<shift - 1 // of the bucket
			return min(time.Duration(last), l.longest)
		}
	}
	return 0
}
