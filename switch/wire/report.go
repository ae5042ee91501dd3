//go:build linux

package wire

import (
	"time"

	"aqmlab/switch/fabric"
	"aqmlab/switch/times"
)

// Report is what a run of the switch measured. Times are lab time.
type Report struct {
	Start       int64         // CLOCK_MONOTONIC, in nanoseconds, at lab time zero
	Ran         time.Duration // lab time
	Ports       []fabric.PortCount
	Lost        []fabric.LossCount // by links that may lose packets
	LatenessP50 time.Duration      // of deliveries
	LatenessP99 time.Duration
	LatenessMax time.Duration
	Delivered   int64   // frames
	Clamped     int64   // arrivals noticed after later events had run
	EdgeDrops   int64   // frames lost between the kernel and the switch, in either direction
	Ignored     int64   // frames that are not IP, damaged, or for nobody
	Held        int     // packets still in queues and on links; ACKs that ports held are in their counts
	Busy        float64 // share of the time in which the loop worked
	Waited      float64 // share of the time in which others had its CPU while it had work
	RealTime    bool    // nobody else may have its CPU first
	GaveWay     bool    // it was to poll, and slept for a while because others wanted its CPU
}

// tally collects what the driver sees.
type tally struct {
	start      int64
	lateness   *times.Histogram // of deliveries, to a thousandth
	busy       time.Duration    // wall time from the begin of work to its end
	ran        time.Duration    // of the thread, before the start
	waited     time.Duration    // the same
	ignored    int64
	unsent     int64
	lostBefore int64
}

func (d *driver) report() (Report, error) {
	t := &d.tally
	r := Report{
		Start:       t.start,
		Ran:         d.loop.Now(),
		Ports:       d.network.Counts(),
		Lost:        d.network.Lost(),
		LatenessP50: t.lateness.Quantile(0.50),
		LatenessP99: t.lateness.Quantile(0.99),
		LatenessMax: t.lateness.Longest(),
		Delivered:   t.lateness.Noted(),
		Clamped:     d.network.Clamped(),
		EdgeDrops:   t.unsent - t.lostBefore,
		Ignored:     t.ignored,
		Held:        d.pool.Taken(),
		RealTime:    d.urgency.set != nil,
		GaveWay:     d.polling.given,
	}
	if all := float64(d.clock.wall(r.Ran)); all > 0 && !d.virtual {
		ran, waited := threadTimes()
		r.Busy = float64(t.busy) / all
		if ran > t.ran { // in which it has worked, or spun
			r.Busy = min(r.Busy, float64(ran-t.ran)/all)
		}
		r.Waited = float64(waited-t.waited) / all
	}
	for _, in := range d.inlets {
		lost, err := in.lost()
		if err != nil {
			return Report{}, err
		}
		r.EdgeDrops += lost
	}
	return r, nil
}
