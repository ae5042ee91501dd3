package traffic

import (
	"fmt"
	"math"

	"aqmlab/units"
)

// MaxDSCP is the largest value of the six bits of a DSCP.
const MaxDSCP = 63

// MaxThresholds bounds the thresholds of a [Tagging]. It leaves most DSCPs to
// services.
const MaxThresholds = 8

// Tagging says what DSCP, and by that what queue, the bytes of a flow have:
// that of their service, or, with PIAS (Bai et al., NSDI 2015), first that of a
// priority that all services share and that falls as the flow goes on.
//
// With N thresholds, the bytes below the first have DSCP 0, those from there to
// below the second DSCP 1, and so on; all from the last threshold on have DSCP N
// plus the service. Offsets count payload from the beginning of the flow,
// whatever flows the connection carried before; bytes that are sent again count
// once. What flows the other way, requests and ACKs, has the DSCP of the first
// byte. The zero value is ready to use: every byte has the DSCP of its service.
type Tagging struct {
	Thresholds []units.Size // rising, above zero, at most [MaxThresholds]
}

// Check tells whether the thresholds fit, for services below the number given.
func (t Tagging) Check(services int) error {
	if n := len(t.Thresholds); n > MaxThresholds {
		return fmt.Errorf("%d thresholds are too many: want at most %d", n, MaxThresholds)
	}
	before := units.Size(0)
	for i, threshold := range t.Thresholds {
		if threshold <= before {
			return fmt.Errorf("threshold %v is not above %v: want rising thresholds above zero", t.Thresholds[i], before)
		}
		before = threshold
	}
	if n := t.Queues(services); n > MaxDSCP+1 {
		return fmt.Errorf("%d thresholds and %d services need %d DSCPs: there are %d", len(t.Thresholds), services, n, MaxDSCP+1)
	}
	return nil
}

// Queues is how many DSCPs that many services need: a priority for each
// threshold, and one DSCP for each service.
func (t Tagging) Queues(services int) int { return len(t.Thresholds) + services }

// DSCP is that of the byte at an offset, from 0, into a flow of a service.
func (t Tagging) DSCP(service int, offset int64) uint8 {
	for i, threshold := range t.Thresholds {
		if offset < int64(threshold) {
			return uint8(i)
		}
	}
	return uint8(len(t.Thresholds) + service)
}

// Until is the first offset behind the given one at which the DSCP is another,
// or the largest int64: what lies between the two can be sent as one.
func (t Tagging) Until(offset int64) int64 {
	for _, threshold := range t.Thresholds {
		if offset < int64(threshold) {
			return int64(threshold)
		}
	}
	return math.MaxInt64
}
