package aqm

import (
	"math"
	"time"
)

// average is the filter of MQ-ECN, section 3.3.1: beta is the weight of the old
// value. The conversions keep a compiler from fusing the operations, which
// would make results depend on the processor.
type average struct{ value, beta float64 }

func (a *average) add(sample float64) {
	a.value = float64(a.beta*a.value) + float64((1-a.beta)*sample)
}

// idle adds n samples of zero.
func (a *average) idle(n float64) { a.value *= math.Pow(a.beta, n) }

// roundTime is T_round in nanoseconds.
type roundTime struct {
	average
	every   time.Duration // between updates; zero: one with each sample
	updated time.Duration // when the last one was
	latest  float64       // the sample that updates average until there is another
}

// sample takes a round time that was measured at now.
func (r *roundTime) sample(now time.Duration, took float64) {
	if r.every == 0 {
		r.add(took)
		return
	}
	r.update(now)
	r.latest = took
}

// update catches up with the fixed times since the last update: n of them with the same sample.
func (r *roundTime) update(now time.Duration) {
	if r.every == 0 || now <= r.updated {
		return
	}
	n := now/r.every - r.updated/r.every
	r.updated = now
	if n > 0 {
		keep := math.Pow(r.beta, float64(n))
		r.value = float64(keep*r.value) + float64((1-keep)*r.latest)
	}
}

// idle adds n samples of zero for the time in which the port was idle. What was
// measured before it is no round time of what follows.
func (r *roundTime) idle(from, to time.Duration, n float64) {
	r.update(from)
	r.average.idle(n)
	if r.updated < to {
		r.updated, r.latest = to, 0
	}
}

// busyQueues counts the queues that hold packets.
type busyQueues struct {
	busy  []bool
	count int
}

func newBusyQueues(queues int) busyQueues { return busyQueues{busy: make([]bool, queues)} }

// arrive notes a packet that arrives, and tells whether its queue held none.
func (b *busyQueues) arrive(v View) (first bool) {
	if b.busy[v.Queue] {
		return false
	}
	b.busy[v.Queue] = true
	b.count++
	return true
}

// depart notes a packet that has left, and tells whether its queue holds none now.
func (b *busyQueues) depart(v View) (last bool) {
	if v.Packets > 0 || !b.busy[v.Queue] {
		return false
	}
	b.busy[v.Queue] = false
	b.count--
	return true
}
