package collectors

import (
	"cmp"
	"slices"
	"time"

	"aqmlab/results"
	"aqmlab/switch/aqm"
	"aqmlab/switch/event"
	"aqmlab/switch/fabric"
)

// Estimates keeps every estimate that the schemes of switch ports make of how fast
// their queues drain. Ports whose scheme makes none have none.
type Estimates struct{ samples []results.EstimateSample }

// NewEstimates returns a collector without estimates.
func NewEstimates() *Estimates { return &Estimates{} }

var _ fabric.Collector = (*Estimates)(nil)

// Attach has the schemes of a network tell what they estimate.
func (c *Estimates) Attach(_ *event.Loop, network *fabric.Network) {
	for _, p := range network.Ports() {
		p.Estimates(func(now time.Duration, e aqm.Estimate) {
			c.samples = append(c.samples, results.EstimateSample{
				At: now, Switch: p.Switch, Port: p.Far, Queue: int32(e.Queue), Rate: int64(e.Sample), Smoothed: int64(e.Smoothed),
			})
		})
	}
}

// End is what was estimated, in the order of time, once the network has stopped.
// Times count from the start of the loop.
func (c *Estimates) End() []results.EstimateSample {
	slices.SortStableFunc(c.samples, func(a, b results.EstimateSample) int { return cmp.Compare(a.At, b.At) })
	return c.samples
}
