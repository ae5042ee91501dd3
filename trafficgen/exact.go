package trafficgen

import "math"

// exponent is e to the power of y, which is zero or more. Unlike math.Exp it
// is made of operations that IEEE 754 defines to the last bit, in an order
// that no compiler may change, so that it is the same on every machine; it is
// off by some units of the last place. Above the range of a float64 it is
// infinite.
func exponent(y float64) float64 {
	const terms = 20 // 1/20! is below the last bit of 1
	if y > 710 {
		return math.Inf(1)
	}
	whole := math.Floor(y)
	rest, sum := y-whole, 1.0
	for i := float64(terms); i > 0; i-- {
		sum = 1 + float64(rest*sum)/i
	}
	for ; whole > 0; whole-- {
		sum *= math.E
	}
	return sum
}

// logarithm is the natural logarithm of x, which is 1 or more and finite, by
// halving the interval that it lies in.
func logarithm(x float64) float64 {
	low, high := 0.0, 710.0
	for range 64 {
		if mid := (low + high) / 2; exponent(mid) > x {
			high = mid
		} else {
			low = mid
		}
	}
	return low
}
