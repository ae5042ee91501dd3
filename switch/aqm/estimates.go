package aqm

import (
	"time"

	"aqmlab/units"
)

// Estimate is what a scheme made of one measurement of how fast a queue drains.
// Rates are of network-layer bytes, as all in a scheme: a link full of packets of
// 1500 bytes drains at 97.5 % of its own rate.
type Estimate struct {
	Queue    int
	Sample   units.Rate // the measurement by itself
	Smoothed units.Rate // averaged with those before: what the scheme goes by
}

// Estimator is implemented by schemes that estimate how fast queues drain.
type Estimator interface {
	// Estimates has to told of every estimate from now on; with nil, nobody. now is
	// when the measurement ended, of turns of a scheduler up to a packet's time
	// ahead of the lab's.
	Estimates(to func(now time.Duration, e Estimate))
}

// estimates is who wants to know of a scheme's estimates: nil for nobody, so that
// a measurement costs a comparison then.
type estimates func(now time.Duration, e Estimate)

// Estimates sets who wants to know.
func (f *estimates) Estimates(to func(now time.Duration, e Estimate)) { *f = to }

// tell passes an estimate in bit/s on to who is not nil.
func (f estimates) tell(now time.Duration, queue int, sample, smoothed float64) {
	f(now, Estimate{queue, units.Rate(sample + 0.5), units.Rate(smoothed + 0.5)})
}

var (
	_ Estimator = (*idealRED)(nil)
	_ Estimator = (*mqECNRounds)(nil)
	_ Estimator = (*pie)(nil)
)
