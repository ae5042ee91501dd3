package labs

// RTTShape is a distribution of base RTTs, whatever their range: where in it, 0
// being the shortest and 1 the longest, the RTT stands that a share u in [0, 1)
// does not exceed. It never falls.
type RTTShape func(u float64) float64

// fixedRTT is the distribution of a lab that names none.
const fixedRTT = "fixed"

func newFixedRTT(struct{}, struct{}) (RTTShape, error) {
	return func(float64) float64 { return 0 }, nil
}

func newUniformRTT(struct{}, struct{}) (RTTShape, error) {
	return func(u float64) float64 { return u }, nil
}

// The long tail has the two figures that are published of one: of RTTs from 80
// to 240 us, the mean is about 137 us and the 90th percentile about 220 us
// (ECN#, section 5.3), which is 0.356 and 0.875 of the range. Up to the 90th
// percentile it grows with the square of u, the one power that gives this mean;
// the last tenth is spread evenly over the rest.
const (
	tailFrom = 0.9
	tailAt   = 0.875
)

func newLongTailRTT(struct{}, struct{}) (RTTShape, error) {
	return longTail, nil
}

func longTail(u float64) float64 {
	if u < tailFrom {
		return tailAt * u * u / (tailFrom * tailFrom)
	}
	// The conversion forbids fusing the product into the sum.
	return tailAt + float64((1-tailAt)*(u-tailFrom)/(1-tailFrom))
}
