package units

import "time"

// Clock adds up transmission times without losing the fractions of a
// nanosecond that they end in: at 100 Gbps a full frame takes 123.04 ns, and
// rounding each would bend the rate by a third of a per mille.
//
// The zero Clock is ready to use.
type Clock struct {
	rest int64 // numerator of the fraction of a nanosecond carried over, over the rate
}

// Transmit returns when n bytes that start at start will have been sent at
// rate r. A transmission that directly follows the one before it (back to
// back) carries the fraction over; any other starts afresh.
func (c *Clock) Transmit(start time.Duration, n int, r Rate, backToBack bool) time.Duration {
	if !backToBack {
		c.rest = 0
	}
	bits := int64(n)*8e9 + c.rest
	c.rest = bits % int64(r)
	return start + time.Duration(bits/int64(r))
}
