package tcp

import (
	"math"
	"time"
)

// estimator computes the retransmission timeout (RFC 6298). Timestamps make
// every sample a sound one, those of segments sent again too (RFC 7323, section
// 4), so that each ends the back-off. The RFC's rule of 3 seconds after the loss
// of a SYN is for timeouts that labs do not have, and left out.
type estimator struct {
	srtt, rttvar float64 // ns
	sampled      bool
	rto          time.Duration // backed off
	backoffs     int           // timeouts since the last sample
}

// sample takes a round-trip time. expected is how many samples come in one round
// trip; their weights are divided by it, so that the memory spans as many round
// trips as with one (RFC 7323, appendix G).
func (r *estimator) sample(c *Config, m time.Duration, expected int64) {
	rtt := float64(m)
	if !r.sampled {
		r.srtt, r.rttvar, r.sampled = rtt, rtt/2, true
	} else {
		// The conversions keep a machine from fusing two operations, which would
		// round otherwise than on one that cannot.
		share := 1 / float64(expected)
		r.rttvar += float64(share / 4 * (math.Abs(r.srtt-rtt) - r.rttvar))
		r.srtt += float64(share / 8 * (rtt - r.srtt))
		if r.rttvar < 1 { // over a quiet path it would shrink until arithmetic gets slow
			r.rttvar = 1
		}
	}
	rto := time.Duration(r.srtt + max(float64(c.Granularity), float64(4*r.rttvar)))
	r.rto, r.backoffs = min(max(rto, c.RTOMin), c.RTOMax), 0
}

// backOff doubles the timeout.
func (r *estimator) backOff(c *Config) {
	r.backoffs++
	r.rto = min(2*r.rto, c.RTOMax)
}
