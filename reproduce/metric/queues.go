package metric

import (
	"cmp"
	"math"
	"slices"
	"time"

	"aqmlab/reproduce/papers"
	"aqmlab/results"
	"aqmlab/switch/packet"
)

// ofQueue tells whether a sample is of the claim's queue.
func (s Subject) ofQueue(q results.QueueSample) bool {
	return q.Port == s.Port && int(q.Queue) == s.Queue
}

// queue lists the samples of the claim's queue within its window.
func (s Subject) queue() ([]results.QueueSample, error) {
	w, err := s.window()
	if err != nil {
		return nil, err
	}
	within := slices.DeleteFunc(slices.Clone(s.Point.Queues), func(q results.QueueSample) bool {
		return !s.ofQueue(q) || !w.Ends(q.At)
	})
	if len(within) == 0 {
		return nil, nothing("no samples of queue %d to %s", s.Queue, s.Port)
	}
	return within, nil
}

// medianLength is in KB. Bursts that come and go do not change it.
func medianLength(samples []results.QueueSample) float64 {
	slices.SortFunc(samples, func(a, b results.QueueSample) int { return cmp.Compare(a.Bytes, b.Bytes) })
	n := len(samples)
	return float64(samples[(n-1)/2].Bytes+samples[n/2].Bytes) / 2 / 1000
}

func queueDrops(samples []results.QueueSample) float64 {
	drops := int64(0)
	for _, q := range samples {
		drops += q.Drops
	}
	return float64(drops)
}

func peakLength(samples []results.QueueSample) float64 {
	peak := int64(0)
	for _, q := range samples {
		peak = max(peak, q.PeakBytes)
	}
	return float64(peak) / 1000
}

// queuePeak is of the whole run, which the port's counters tell of.
func queuePeak(s Subject) (float64, error) {
	peak := int64(-1)
	for _, p := range s.Point.Ports {
		if p.Port == s.Port && p.Queue == s.Queue {
			peak = max(peak, p.PeakBytes)
		}
	}
	if peak < 0 {
		return 0, nothing("there is no port to %s", s.Port)
	}
	return float64(peak) / 1000, nil
}

func drops(s Subject) (float64, error) {
	return float64(results.CountsOf(s.Point).Drops), nil
}

func dropsOfWorst(s Subject) (float64, error) {
	bySwitch := map[string]int64{}
	most := int64(0)
	for _, p := range s.Point.Ports {
		bySwitch[p.Switch] += p.DropsFull + p.DropsScheme
		most = max(most, bySwitch[p.Switch])
	}
	return float64(most), nil
}

// allQueues of a port.
const allQueues = -1

// rate is what left a queue of the port, or all of them, within a window, in
// network-layer Mbps.
func (s Subject) rate(w papers.Window, queue int) (float64, error) {
	bytes, seen := int64(0), false
	for _, q := range s.Point.Queues {
		if q.Port != s.Port {
			continue
		}
		seen = true
		if (queue == allQueues || int(q.Queue) == queue) && w.Ends(q.At) {
			bytes += q.Sent
		}
	}
	if !seen {
		return 0, nothing("no samples of the port to %s", s.Port)
	}
	return float64(bytes) * 8 / (w.To - w.From).Seconds() / 1e6, nil
}

// queueRate is the metric of what left the claim's queue within its window.
func queueRate(as func(Subject, float64) float64) compute {
	return func(s Subject) (float64, error) { return s.rateAs(s.Queue, as) }
}

// portRate is the same of all queues of the claim's port.
func portRate(as func(Subject, float64) float64) compute {
	return func(s Subject) (float64, error) { return s.rateAs(allQueues, as) }
}

func (s Subject) rateAs(queue int, as func(Subject, float64) float64) (float64, error) {
	w, err := s.window()
	if err != nil {
		return 0, err
	}
	r, err := s.rate(w, queue)
	return as(s, r), err
}

// The packets of long flows are full, so network-layer bytes tell how much of
// them is payload, and how much the link spent on framing.

// payload is what of a rate of network-layer bytes is payload.
func payload(s Subject, mbps float64) float64 {
	return mbps * (float64(s.Lab.Host.MTU-packet.TCPHeaders) / float64(s.Lab.Host.MTU))
}

// onWire is what a rate of network-layer bytes takes of the link.
func onWire(s Subject, mbps float64) float64 {
	return mbps * (float64(s.Lab.Host.MTU+packet.FrameOverhead) / float64(s.Lab.Host.MTU))
}

// ofLink is the same in percent.
func ofLink(s Subject, mbps float64) float64 {
	return onWire(s, 100*mbps) / (float64(s.Lab.Topology.Rate) / 1e6)
}

func networkLayer(_ Subject, mbps float64) float64 { return mbps }

func shareOfNext(s Subject) (float64, error) {
	mine, err := s.rateAs(s.Queue, networkLayer)
	if err != nil {
		return 0, err
	}
	next, err := s.rateAs(s.Queue+1, networkLayer)
	if err == nil && next == 0 {
		err = nothing("nothing left queue %d", s.Queue+1)
	}
	return mine / next, err
}

func goodputGrowth(s Subject) (float64, error) {
	return s.windowGrowth(func(w papers.Window) (float64, error) { return s.rate(w, s.Queue) })
}

// Convergence looks at the rate in bins. The queue has converged when the rate is
// near that of the end for so long.
const (
	convergenceBin  = 20 * time.Millisecond
	convergenceCalm = 100 * time.Millisecond
	convergenceNear = 0.10
)

func convergence(s Subject) (float64, error) {
	w, err := s.window()
	if err != nil {
		return 0, err
	}
	end, err := s.rate(w.SecondHalf(), s.Queue)
	if err != nil {
		return 0, err
	}
	begun := w.From
	for at := w.From; at+convergenceBin <= w.To; at += convergenceBin {
		bin := papers.Window{From: at, To: at + convergenceBin}
		r, err := s.rate(bin, s.Queue)
		if err != nil {
			return 0, err
		}
		if math.Abs(r-end) > convergenceNear*end {
			begun = bin.To
		}
		if bin.To-begun >= convergenceCalm {
			return float64((begun - w.From).Microseconds()) / 1000, nil
		}
	}
	return 0, nothing("queue %d never settles", s.Queue)
}

// near is how close a smoothed rate must come to be there. The step that TCN, Fig.
// 2, is about leaves 2 % after the 29 samples that the paper says do not suffice.
const near = 0.01

// estimates lists those of the claim's queue within its window.
func (s Subject) estimates() ([]results.EstimateSample, error) {
	w, err := s.window()
	if err != nil {
		return nil, err
	}
	var within []results.EstimateSample
	for _, e := range s.Point.Estimates {
		if e.Port == s.Port && int(e.Queue) == s.Queue && w.Ends(e.At) {
			within = append(within, e)
		}
	}
	if len(within) == 0 {
		return nil, nothing("no estimates of queue %d to %s", s.Queue, s.Port)
	}
	return within, nil
}

func rateSamples(s Subject) (float64, error) {
	within, err := s.estimates()
	return float64(len(within)), err
}

// estimate is the metric of the lowest or the highest rate of the claim's queue
// within its window, in Gbps on the wire.
func estimate(choose func(a, b float64) float64, rate func(results.EstimateSample) int64) compute {
	return func(s Subject) (float64, error) {
		within, err := s.estimates()
		if err != nil {
			return 0, err
		}
		chosen := float64(rate(within[0]))
		for _, e := range within[1:] {
			chosen = choose(chosen, float64(rate(e)))
		}
		return chosen / 1e9 * (float64(s.Lab.Host.MTU+packet.FrameOverhead) / float64(s.Lab.FullPacket())), nil
	}
}

func single(e results.EstimateSample) int64   { return e.Rate }
func smoothed(e results.EstimateSample) int64 { return e.Smoothed }

// rateConvergence is infinite when the smoothed rate never comes near what the
// queue took of the link.
func rateConvergence(s Subject) (float64, error) {
	within, err := s.estimates()
	if err != nil {
		return 0, err
	}
	w := s.Windows[0] // which the estimates are within
	mbps, err := s.rate(w.SecondHalf(), s.Queue)
	if err != nil {
		return 0, err
	}
	mbps *= float64(s.Lab.FullPacket()) / float64(s.Lab.Host.MTU) // as lengths count
	for _, e := range within {
		if math.Abs(float64(e.Smoothed)/1e6-mbps) <= near*mbps {
			return float64((e.At - w.From).Nanoseconds()) / 1000, nil
		}
	}
	return math.Inf(1), nil
}
