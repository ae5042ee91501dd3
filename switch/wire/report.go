//go:build linux

package wire

import (
	"math"
	"math/bits"
	"time"

	"aqmlab/switch/fabric"
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
}

// tally collects what the driver sees.
type tally struct {
	start      int64
	lateness   lateness
	busy       time.Duration // wall time from the begin of work to its end
	ran        time.Duration // of the thread, before the start
	waited     time.Duration // the same
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
		LatenessP50: t.lateness.quantile(0.50),
		LatenessP99: t.lateness.quantile(0.99),
		LatenessMax: t.lateness.longest,
		Delivered:   t.lateness.noted,
		Clamped:     d.network.Clamped(),
		EdgeDrops:   t.unsent - t.lostBefore,
		Ignored:     t.ignored,
		Held:        d.pool.Taken(),
		RealTime:    d.urgency.set != nil,
	}
	if all := float64(d.clock.wall(r.Ran)); all > 0 && d.out == nil {
		ran, waited := threadTimes()
		r.Busy = float64(t.busy) / all
		if ran > t.ran { // in which it has worked, or spun
			r.Busy = min(r.Busy, float64(ran-t.ran)/all)
		}
		r.Waited = float64(waited-t.waited) / all
	}
	for _, p := range d.ports {
		lost, err := p.lost()
		if err != nil {
			return Report{}, err
		}
		r.EdgeDrops += lost
	}
	return r, nil
}

// lateness counts deliveries by how late they were, to a thousandth of each value.
// It holds all times in the same memory.
type lateness struct {
	counts  [(64 - mantissa) << mantissa]int64
	noted   int64
	longest time.Duration
}

// mantissa is how many bits of a value below its highest one are told apart.
const mantissa = 10

// note counts one delivery.
func (l *lateness) note(late time.Duration) {
	late = max(late, 0)
	l.counts[bucket(uint64(late))]++
	l.noted++
	l.longest = max(l.longest, late)
}

// bucket is the index of a value: values below 2^(mantissa+1) have one each, then as
// many buckets each double the width.
func bucket(v uint64) int {
	shift := max(0, bits.Len64(v)-mantissa-1)
	return shift<<mantissa + int(v>>shift)
}

// quantile is a value that this share of all deliveries was at most late by; zero if
// there were none.
func (l *lateness) quantile(share float64) time.Duration {
	left := int64(math.Ceil(share * float64(l.noted)))
	for i, n := range l.counts {
		if left -= n; left <= 0 {
			shift := max(0, i>>mantissa-1)
			last := uint64(i-shift<<mantissa+1)<<shift - 1 // of the bucket
			return min(time.Duration(last), l.longest)
		}
	}
	return 0
}
