package aqm

import (
	"time"

	"aqmlab/units"
)

// departures measures how fast a queue drains, in cycles that begin only when
// threshold bytes wait, so that the queue is busy throughout (RFC 8033, section
// 5.2; TCN, section 3.3, Algorithm 1).
//
// Packets are stamped when they start to leave. Algorithm 1 as printed lets a
// departure open a cycle and counts its packet at once: n packets are divided
// by the time of n-1, and the rate comes out too high. With covered set, the
// opening packet is the one before the cycle: n packets take the time of n, and
// the departure that closes a cycle opens the next.
type departures struct {
	threshold int
	covered   bool
	running   bool
	bytes     int
	start     time.Duration
}

// leave takes the departure at now of a packet that leaves backlog bytes
// behind. It reports a cycle that ended: that many bytes took that long, which
// is above zero.
func (d *departures) leave(now time.Duration, size, backlog int) (bytes int, took time.Duration, ended bool) {
	if !d.covered {
		d.open(now, backlog)
	}
	if d.running {
		d.bytes += size
		if took = now - d.start; d.bytes >= d.threshold && took > 0 {
			bytes, ended, d.running = d.bytes, true, false
		}
	}
	if d.covered {
		d.open(now, backlog)
	}
	return bytes, took, ended
}

func (d *departures) open(now time.Duration, backlog int) {
	if !d.running && backlog >= d.threshold {
		d.running, d.bytes, d.start = true, 0, now
	}
}

// Estimate is what a scheme made of one measurement of how fast a queue drains.
// Rates are of lengths, as all in a scheme: where those count network-layer bytes, a
// link full of packets of 1500 bytes drains at 97.5 % of its own rate.
type Estimate struct {
	Queue    int
	Sample   units.Rate // the measurement by itself
	Smoothed units.Rate // averaged with those before: what the scheme goes by
}

// Estimator is implemented by schemes that estimate how fast queues drain.
type Estimator interface {
	// Estimates calls to for every estimate from now on; nil calls nothing. now is
	// when the measurement ended. The turn of a scheduler ends up to one packet's
	// time after the lab's now.
	Estimates(to func(now time.Duration, e Estimate))
}

// estimates is called for a scheme's estimates. While it is nil, a measurement
// costs one comparison.
type estimates func(now time.Duration, e Estimate)

// Estimates sets the function that is called.
func (f *estimates) Estimates(to func(now time.Duration, e Estimate)) { *f = to }

// tell passes on an estimate in bit/s. f must not be nil.
func (f estimates) tell(now time.Duration, queue int, sample, smoothed float64) {
	f(now, Estimate{queue, units.Rate(sample + 0.5), units.Rate(smoothed + 0.5)})
}
