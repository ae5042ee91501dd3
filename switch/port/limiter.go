package port

import (
	"fmt"
	"time"

	"aqmlab/units"
)

// Limiter is the token bucket that keeps the backlog in the switch's queues
// and out of the link behind them (TCN, section 5). It counts wire bytes. The
// zero Limiter is off.
type Limiter struct {
	RateFraction float64    `lab:"rate_fraction" default:"1" range:"(0, 1]" doc:"egress token bucket over the link's rate, 1 is off"`
	Bucket       units.Size `lab:"bucket" default:"2500B" range:"1B..1GB" doc:"at least a full frame on the wire"`
	StartsEmpty  bool       `lab:"starts_empty" write:"set" doc:"true: the bucket begins empty, as in the kernel module of TCN and MQ-ECN; full when absent, as in Linux's tbf"`
}

// tokenBucket computes departures exactly: it keeps the moment at which the
// bucket was, or would have been, empty, and tokens are the time since then.
// Packets leave when their tokens are there to the nanosecond, so the rate
// has no error but the configured one.
type tokenBucket struct {
	rate  units.Rate
	full  time.Duration // time in which an empty bucket fills
	empty time.Duration // when the bucket was empty
	rest  int64         // fraction of a nanosecond beyond empty, over the rate
}

func newTokenBucket(l Limiter, line units.Rate) (*tokenBucket, error) {
	if l == (Limiter{}) {
		return nil, nil
	}
	if l.RateFraction <= 0 || l.RateFraction > 1 {
		return nil, fmt.Errorf("limiter: rate fraction %v is not in (0, 1]", l.RateFraction)
	}
	if l.Bucket <= 0 {
		return nil, fmt.Errorf("limiter: bucket of %v cannot hold a packet", l.Bucket)
	}
	rate := units.Rate(float64(line) * l.RateFraction)
	full := time.Duration(int64(l.Bucket) * 8e9 / int64(rate)) // rounded down: never early
	b := &tokenBucket{rate: rate, full: full}
	if !l.StartsEmpty {
		b.empty = -full
	}
	return b, nil
}

// ready is the earliest time, now or later, at which n bytes may leave. More bytes than
// the bucket holds leave when it is full, and it owes the rest. The same holds for
// bytes that it lacks only because full is rounded down.
func (b *tokenBucket) ready(now time.Duration, n int) time.Duration {
	b.cap(now)
	bits := int64(n)*8e9 + b.rest
	wait := (bits + int64(b.rate) - 1) / int64(b.rate) // never early
	return max(now, b.empty+min(time.Duration(wait), b.full))
}

// spend takes the tokens of n bytes that leave at now.
func (b *tokenBucket) spend(now time.Duration, n int) {
	b.cap(now)
	bits := int64(n)*8e9 + b.rest
	b.empty += time.Duration(bits / int64(b.rate))
	b.rest = bits % int64(b.rate)
}

// cap forgets the tokens that would not have fitted the bucket.
func (b *tokenBucket) cap(now time.Duration) {
	if b.empty < now-b.full {
		b.empty, b.rest = now-b.full, 0
	}
}
