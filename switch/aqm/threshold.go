package aqm

import (
	"math"
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
