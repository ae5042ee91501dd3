package reproduce

import (
	"fmt"
	"math"
	"time"

	"aqmlab/reproduce/papers"
	"aqmlab/results"
	"aqmlab/switch/packet"
)

// The packets of long flows are full, so network-layer bytes tell how much of
// them is payload, and how much the link spent on framing.

func (s subject) payloadShare() float64 {
	return float64(s.lab.Host.MTU-packet.TCPHeaders) / float64(s.lab.Host.MTU)
}
func (s subject) wireShare() float64 {
	return float64(s.lab.Host.MTU+packet.FrameOverhead) / float64(s.lab.Host.MTU)
}

// rate is what left queues of the port within a window, in network-layer Mbps.
func (s subject) rate(w papers.Window, queue func(int) bool) (float64, error) {
	bytes, seen := int64(0), false
	for _, q := range s.point.Queues {
		if q.Port != s.Port {
			continue
		}
		seen = true
		if queue(int(q.Queue)) && q.At > w.From && q.At <= w.To {
			bytes += q.Sent
		}
	}
	if !seen {
		return 0, fmt.Errorf("%w: no samples of the port to %s", errNothing, s.Port)
	}
	return float64(bytes) * 8 / (w.To - w.From).Seconds() / 1e6, nil
}

func only(queue int) func(int) bool { return func(q int) bool { return q == queue } }

// window is the claim's one window; the paper's file has it where it is needed.
func (s subject) window() (papers.Window, error) {
	if len(s.Windows) == 0 {
		return papers.Window{}, fmt.Errorf("%w: the claim names no window", errNothing)
	}
	return s.Windows[0], nil
}

func (s subject) rateInWindow(queue func(int) bool) (float64, error) {
	w, err := s.window()
	if err != nil {
		return 0, err
	}
	return s.rate(w, queue)
}

func queueGoodput(s subject) (float64, error) {
	r, err := s.rateInWindow(only(s.Queue))
	return r * s.payloadShare(), err
}

func queueRate(s subject) (float64, error) {
	r, err := s.rateInWindow(only(s.Queue))
	return r * s.wireShare(), err
}

func utilisation(s subject) (float64, error) {
	r, err := s.rateInWindow(func(int) bool { return true })
	return 100 * r * s.wireShare() / (float64(s.lab.Topology.Rate) / 1e6), err
}

func shareOfNext(s subject) (float64, error) {
	mine, err := s.rateInWindow(only(s.Queue))
	if err != nil {
		return 0, err
	}
	next, err := s.rateInWindow(only(s.Queue + 1))
	if err == nil && next == 0 {
		err = fmt.Errorf("%w: nothing left queue %d", errNothing, s.Queue+1)
	}
	return mine / next, err
}

func portGoodput(s subject) (float64, error) {
	r, err := s.rateInWindow(func(int) bool { return true })
	return r * s.payloadShare(), err
}

func goodputGrowth(s subject) (float64, error) {
	return s.growth(func(w papers.Window) (float64, error) { return s.rate(w, only(s.Queue)) })
}

func queuePeak(s subject) (float64, error) {
	peak := int64(-1)
	for _, p := range s.point.Ports {
		if p.Port == s.Port && p.Queue == s.Queue {
			peak = max(peak, p.PeakBytes)
		}
	}
	if peak < 0 {
		return 0, fmt.Errorf("%w: there is no port to %s", errNothing, s.Port)
	}
	return float64(peak) / 1000, nil
}

func queueWindowPeak(s subject) (float64, error) {
	samples, err := s.windowed()
	peak := int64(0)
	for _, q := range samples {
		peak = max(peak, q.PeakBytes)
	}
	return float64(peak) / 1000, err
}

func (s subject) sampled(q results.QueueSample) bool {
	return q.Port == s.Port && int(q.Queue) == s.Queue
}

// Convergence looks at the rate in bins, and wants all of the next calm to be
// near the end's.
const (
	convergenceBin  = 20 * time.Millisecond
	convergenceCalm = 100 * time.Millisecond
	convergenceNear = 0.10
)

func convergence(s subject) (float64, error) {
	w, err := s.window()
	if err != nil {
		return 0, err
	}
	half := papers.Window{From: w.From + (w.To-w.From)/2, To: w.To}
	end, err := s.rate(half, only(s.Queue))
	if err != nil {
		return 0, err
	}
	calm := 0
	for at := w.From; at+convergenceBin <= w.To; at += convergenceBin {
		r, err := s.rate(papers.Window{From: at, To: at + convergenceBin}, only(s.Queue))
		if err != nil {
			return 0, err
		}
		if calm++; math.Abs(r-end) > convergenceNear*end {
			calm = 0
		}
		if time.Duration(calm)*convergenceBin >= convergenceCalm {
			begun := at + convergenceBin - time.Duration(calm)*convergenceBin
			return float64((begun - w.From).Microseconds()) / 1000, nil
		}
	}
	return 0, fmt.Errorf("%w: queue %d never settles", errNothing, s.Queue)
}
