// Package collectors holds what is measured beside the flows, one file a
// source. Each yields records of package results.
package collectors

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"aqmlab/results"
	"aqmlab/switch/aqm"
	"aqmlab/switch/event"
	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
)

// Queues samples every queue of every switch port at regular lab times: its
// length, its peak since the last sample, and what left, how long that had
// waited, and what was marked or dropped meanwhile. A queue through which nothing passed yields no sample.
type Queues struct {
	every   time.Duration
	loop    *event.Loop
	network *fabric.Network
	ports   []fabric.Port
	last    [][]port.Count
	timer   *event.Timer
	samples []results.QueueSample
	shown   atomic.Pointer[[]results.QueueSample] // samples as they were after the last look
}

// NewQueues returns a collector that samples at that interval of lab time.
func NewQueues(every time.Duration) *Queues { return &Queues{every: every} }

// Attach starts sampling a network on its loop.
func (c *Queues) Attach(loop *event.Loop, network *fabric.Network) {
	c.loop, c.network, c.ports = loop, network, network.Ports()
	for _, p := range c.ports {
		c.last = append(c.last, make([]port.Count, p.Queues()))
	}
	c.timer = event.NewTimer(c.sample)
	loop.Schedule(c.timer, loop.Now()+c.every)
}

// Samples are what has been sampled so far, in the order of time. Times count
// from the start of the loop. It may be called while the loop runs elsewhere: it
// never makes the loop wait.
func (c *Queues) Samples() []results.QueueSample {
	if shown := c.shown.Load(); shown != nil {
		return *shown
	}
	return nil
}

func (c *Queues) sample(now time.Duration) {
	c.network.Settle(now)
	for i, p := range c.ports {
		if len(c.last[i]) != p.Queues() { // it has changed, and its counts have moved
			c.last[i] = make([]port.Count, p.Queues())
			for q := range c.last[i] {
				c.last[i][q] = p.Count(q)
			}
		}
		for q := range p.Queues() {
			count, last, peak := p.Count(q), &c.last[i][q], p.TakePeak(q)
			if count == *last && peak == 0 {
				continue
			}
			s := sampleOf(count, *last)
			s.At, s.Switch, s.Port, s.Queue = now, p.Switch, p.Far, int32(q)
			s.Bytes, s.PeakBytes, s.PeakWaited = int64(p.QueueBytes(q)), int64(peak), p.TakeLongest(q)
			c.keep(s)
			*last = count
		}
	}
	shown := c.samples // what lies behind its end is not looked at before the next
	c.shown.Store(&shown)
	c.loop.Schedule(c.timer, now+c.every)
}

// keep adds a sample. There may be millions: doubled room has each copied once, not four
// times.
func (c *Queues) keep(s results.QueueSample) {
	if n := len(c.samples); n == cap(c.samples) {
		c.samples = slices.Grow(c.samples, max(n, 64))
	}
	c.samples = append(c.samples, s)
}

// sampleOf is what a queue has counted since the last sample.
func sampleOf(now, last port.Count) results.QueueSample {
	s := results.QueueSample{
		Packets:     now.Sent - last.Sent,
		Sent:        now.SentBytes - last.SentBytes,
		Marks:       now.Marked - last.Marked,
		Drops:       drops(now) - drops(last),
		DropsScheme: now.DropsScheme - last.DropsScheme,
	}
	if s.Packets > 0 {
		s.Waited = (now.Waited - last.Waited) / time.Duration(s.Packets)
	}
	return s
}

func drops(c port.Count) int64 { return c.DropsFull + c.DropsScheme }

var (
	_ fabric.Collector = (*Queues)(nil)
	_ fabric.Collector = (*Estimates)(nil)
	_ fabric.Collector = (*Capture)(nil)
	_ fabric.Collector = (*Live)(nil)
)

// Estimates keeps every estimate that the schemes of switch ports make of how fast
// their queues drain. Ports whose scheme makes none have none. The zero value is ready.
type Estimates struct{ samples [][]results.EstimateSample } // by port

// Attach has the schemes of a network tell what they estimate.
func (c *Estimates) Attach(_ *event.Loop, network *fabric.Network) {
	c.samples = make([][]results.EstimateSample, len(network.Ports()))
	for i, p := range network.Ports() {
		p.Estimates(func(now time.Duration, e aqm.Estimate) {
			c.samples[i] = append(c.samples[i], results.EstimateSample{
				At: now, Switch: p.Switch, Port: p.Far, Queue: int32(e.Queue), Rate: int64(e.Sample), Smoothed: int64(e.Smoothed),
			})
		})
	}
}

// End is what was estimated, in the order of time and then of ports, once the network has
// stopped. Times count from the start of the loop.
func (c *Estimates) End() []results.EstimateSample {
	all := slices.Concat(c.samples...)
	slices.SortStableFunc(all, func(a, b results.EstimateSample) int { return cmp.Compare(a.At, b.At) })
	return all
}
