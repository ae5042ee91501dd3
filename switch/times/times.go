// Package times counts times by how long they are, each to a share of itself, in memory
// that does not depend on how many there are.
package times

import (
	"math"
	"math/bits"
	"time"
)

// Histogram counts times. It is not safe for concurrent use.
type Histogram struct {
	precision int
	counts    []int64
	first     int // of the buckets that hold any, and the one behind the last
	end       int
	noted     int64
	longest   time.Duration
}

// New makes a histogram that tells times apart that differ by a share of 2^-precision of
// themselves.
func New(precision int) *Histogram {
	n := (64 - precision) << precision
	return &Histogram{precision: precision, counts: make([]int64, n), first: n}
}

// Note counts one time. Below zero counts as zero.
func (h *Histogram) Note(t time.Duration) {
	t = max(t, 0)
	i := bucket(uint64(t), h.precision)
	h.counts[i]++
	h.first, h.end = min(h.first, i), max(h.end, i+1)
	h.noted++
	h.longest = max(h.longest, t)
}

// Noted is how many times were counted.
func (h *Histogram) Noted() int64 { return h.noted }

// Longest is the longest of them.
func (h *Histogram) Longest() time.Duration { return h.longest }

// Quantile is a time that this share of all times is at most as long as; zero if there
// are none.
func (h *Histogram) Quantile(share float64) time.Duration {
	all := Counts{h.precision, 0, h.counts, h.longest}
	if h.first < h.end {
		all.First, all.N = h.first, h.counts[h.first:h.end]
	}
	return all.Quantile(share)
}

// Counts are what a histogram has counted. They are plain data.
func (h *Histogram) Counts() Counts {
	c := Counts{Precision: h.precision, Longest: h.longest}
	if h.first < h.end {
		c.First, c.N = h.first, append([]int64{}, h.counts[h.first:h.end]...)
	}
	return c
}

// Counts is a part of a histogram: how many times there are in each bucket from First on.
type Counts struct {
	Precision int
	First     int
	N         []int64
	Longest   time.Duration // no time is longer
}

// Since is what was counted since another look at the same histogram.
func (c Counts) Since(before Counts) Counts {
	n := append([]int64{}, c.N...)
	for i, b := range before.N {
		if at := before.First + i - c.First; at >= 0 && at < len(n) {
			n[at] -= b
		}
	}
	c.N = n
	return c
}

// Quantile is as [Histogram.Quantile].
func (c Counts) Quantile(share float64) time.Duration {
	var all int64
	for _, n := range c.N {
		all += n
	}
	if all == 0 {
		return 0
	}
	left := max(int64(math.Ceil(share*float64(all))), 1)
	for i, n := range c.N {
		if left -= n; left <= 0 {
			return min(last(c.First+i, c.Precision), c.Longest)
		}
	}
	return c.Longest
}

// Each calls visit for every bucket that holds times, the shortest first, with the longest
// time that it may hold.
func (c Counts) Each(visit func(upTo time.Duration, n int64)) {
	for i, n := range c.N {
		if n > 0 {
			visit(last(c.First+i, c.Precision), n)
		}
	}
}

// bucket is the index of a value: values below 2^(precision+1) have one each, then as
// many buckets each double the width.
func bucket(v uint64, precision int) int {
	shift := max(0, bits.Len64(v)-precision-1)
	return shift<<precision + int(v>>shift)
}

// last is the largest value of a bucket.
func last(i, precision int) time.Duration {
	shift := max(0, i>>precision-1)
	return time.Duration(uint64(i-shift<<precision+1)<<shift - 1)
}
