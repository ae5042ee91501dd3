package aqm

import (
	"math"
	"time"
)

// standardThreshold is K = C x RTT x lambda in bytes, C being in bits a second
// (MQ-ECN, section 2.2.1). It need not be a whole number.
func standardThreshold(c float64, rtt time.Duration, lambda float64) float64 {
	return c * float64(rtt) / 8e9 * lambda
}

// whole is the greatest whole number of bytes or nanoseconds that is not above x.
// A queue of exactly K is not marked, so what floating point took off a whole
// number is put back.
func whole(x float64) int {
	const lost = 1e-6 // far above that, far below a byte
	return int(math.Floor(x + lost))
}
