// Package collectors holds what is measured beside the flows, one file a
// source. Each yields records of package results.
package collectors

import (
	"sync/atomic"
	"time"

	"aqmlab/event"
	"aqmlab/results"
	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
)

// Queues samples every queue of every switch port at regular lab times: its
// length, its peak since the last sample, and what left, was marked or was
// dropped meanwhile. A queue through which nothing passed yields no sample.
type Queues struct {
	every   time.Duration
	loop    *event.Loop
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
	c.loop, c.ports = loop, network.Ports()
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
	for i, p := range c.ports {
		for q := range p.Queues() {
			count, last, peak := p.Count(q), &c.last[i][q], p.TakePeak(q)
			if count == *last && peak == 0 {
				continue
			}
			c.samples = append(c.samples, results.QueueSample{
				At:        now,
				Switch:    p.Switch,
				Port:      p.Far,
				Queue:     int32(q),
				Bytes:     int64(p.QueueBytes(q)),
				PeakBytes: int64(peak),
				Sent:      count.SentBytes - last.SentBytes,
				Marks:     count.Marked - last.Marked,
				Drops:     drops(count) - drops(*last),
			})
			*last = count
		}
	}
	shown := c.samples // what lies behind its end is not looked at before the next
	c.shown.Store(&shown)
	c.loop.Schedule(c.timer, now+c.every)
}

func drops(c port.Count) int64 { return c.DropsFull + c.DropsScheme }
