package aqm

import (
	"math/rand/v2"

	"aqmlab/kind"
)

// ramp is RED's marking curve over a signal: never below lo, always above hi,
// and in between with a probability that rises linearly from zero to pmax. With
// lo equal to hi it is a plain threshold, and draws no random number.
type ramp struct{ lo, hi, pmax float64 }

// cutoff is the ramp that marks above k, always.
func cutoff(k float64) ramp { return ramp{k, k, 1} }

// scaled is the ramp with both ends at part/all of where they are (MQ-ECN, section
// 3.4). Dividing last keeps a threshold whole that is: 49 x 15,000 bytes times
// 1/49 would be less than 15,000.
func (r ramp) scaled(part, all float64) ramp {
	return ramp{r.lo * part / all, r.hi * part / all, r.pmax}
}

// probability is that of a mark at signal x.
func (r ramp) probability(x float64) float64 {
	switch {
	case x > r.hi:
		return 1
	case x <= r.lo:
		return 0
	}
	return r.pmax * (x - r.lo) / (r.hi - r.lo)
}

// marks decides about one packet.
func (r ramp) marks(x float64, rng *rand.Rand) bool {
	p := r.probability(x)
	return p >= 1 || p > 0 && rng.Float64() < p
}

// rampNames are the parameters that a scheme's ramp comes from. The ramp is on
// when hi is set.
type rampNames struct{ lo, hi, pmax string }

// check validates r. other is the parameter that gives a plain threshold
// instead, if the lab sets it.
func (n rampNames) check(r ramp, other string) error {
	switch {
	case r.hi == 0 && r.lo > 0:
		return kind.Invalid(n.hi, "missing: %s needs it", n.lo)
	case r.hi == 0 && r.pmax != 1:
		return kind.Invalid(n.hi, "missing: %s needs it", n.pmax)
	case r.hi == 0:
		return nil
	case r.lo > r.hi:
		return kind.Invalid(n.hi, "is below %s", n.lo)
	case other != "":
		return kind.Invalid(other, "excludes %s and %s: give one or the other", n.lo, n.hi)
	}
	return nil
}
