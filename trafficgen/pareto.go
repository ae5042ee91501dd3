package trafficgen

import (
	"math"
	"math/rand/v2"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// pareto is the Pareto distribution, in which a flow has more than x bytes with
// probability (scale/x)^shape, cut off at [MaxBytes].
type pareto struct {
	MeanSize units.Size `lab:"mean" doc:"mean payload, were it not for the bound of 1 TiB"`
	Shape    float64    `lab:"shape" range:"(1, 100]" doc:"weight of the tail, above 1: the closer to 1, the heavier"`
}

var _ Distribution = pareto{}

// defaultPareto is that of the short flows in the simulations of the ABQ paper.
func defaultPareto() pareto { return pareto{MeanSize: 50 * units.KB, Shape: 1.2} }

func newPareto(p pareto, _ Env) (Distribution, error) {
	if err := checkSize("mean", p.MeanSize); err != nil {
		return nil, err
	}
	if p.scale() < 1 {
		return nil, kind.Invalid("mean", "%v with shape %v makes the smallest flows smaller than a byte", p.MeanSize, p.Shape)
	}
	return p, nil
}

// scale is the smallest size.
func (d pareto) scale() float64 { return float64(d.MeanSize) * (d.Shape - 1) / d.Shape }

// Draw uses that the logarithm of size over scale is exponentially distributed.
func (d pareto) Draw(r *rand.Rand) int64 {
	return toBytes(d.scale() * exponent(exponential(r)/d.Shape))
}

// Mean counts what the bound cuts off: the integral of (scale/x)^shape from
// there on.
func (d pareto) Mean() float64 {
	scale := d.scale()
	cut := scale / (d.Shape - 1) / exponent((d.Shape-1)*logarithm(traffic.MaxBytes/scale))
	return float64(d.MeanSize) - cut
}

// Quantile inverts the distribution function.
func (d pareto) Quantile(p float64) float64 {
	return min(d.scale()*math.Pow(1-p, -1/d.Shape), traffic.MaxBytes)
}

// toBytes rounds to the nearest size that a flow may have.
func toBytes(size float64) int64 { return int64(math.Round(min(max(size, 1), traffic.MaxBytes))) }

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
