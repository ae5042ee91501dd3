package aqm

import (
	"math"
	"math/rand/v2"
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// Threshold is a queue length, or the rule that gives it.
type Threshold struct {
	Size units.Size
	Rule string // "standard", "minimum", or empty when Size counts
}

// The threshold rules.
var (
	// Standard is K = C x RTT x lambda for every queue (MQ-ECN, section 2.2.1).
	Standard = Threshold{Rule: "standard"}
	// Minimum is the queue's weighted share of the standard threshold (MQ-ECN,
	// section 2.2.2).
	Minimum = Threshold{Rule: "minimum"}
)

// UnmarshalText reads a size or the name of a rule.
func (t *Threshold) UnmarshalText(b []byte) error {
	switch s := string(b); s {
	case Standard.Rule, Minimum.Rule:
		*t = Threshold{Rule: s}
		return nil
	default:
		size, err := units.ParseSize(s)
		if err != nil {
			return kind.Invalid("", "%q is neither standard, minimum, nor a size such as 32KB", s)
		}
		*t = Threshold{Size: size}
		return nil
	}
}

// String prints the threshold as a lab would write it.
func (t Threshold) String() string {
	if t.Rule != "" {
		return t.Rule
	}
	return t.Size.String()
}

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

// check validates the ramp of the parameters lo, hi and pmax, which is on when hi
// is set. other is the parameter that gives a plain threshold instead, if the lab
// sets it.
func (r ramp) check(lo, hi, other string) error {
	switch {
	case r.hi == 0 && r.lo > 0:
		return kind.Invalid(hi, "missing: %s needs it", lo)
	case r.hi == 0 && r.pmax != 1:
		return kind.Invalid(hi, "missing: pmax needs it")
	case r.hi == 0:
		return nil
	case r.lo > r.hi:
		return kind.Invalid(hi, "is below %s", lo)
	case other != "":
		return kind.Invalid(other, "excludes %s and %s: give one or the other", lo, hi)
	}
	return nil
}
