package results

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// PortName names a switch port.
type PortName struct{ Switch, Port string }

func (p PortName) String() string { return p.Switch + " to " + p.Port }

// Bottleneck is the port that sent the most bytes, or among idle ones held the
// most. ok is false without samples.
func Bottleneck(samples []QueueSample) (p PortName, ok bool) {
	type load struct{ sent, peak int64 }
	ports := make(map[PortName]*load)
	for i := range samples {
		s := &samples[i]
		k := PortName{s.Switch, s.Port}
		l := ports[k]
		if l == nil {
			l = new(load)
			ports[k] = l
		}
		l.sent, l.peak = l.sent+s.Sent, max(l.peak, s.PeakBytes)
	}
	if len(ports) == 0 {
		return p, false
	}
	return slices.MaxFunc(slices.Collect(maps.Keys(ports)), func(a, b PortName) int {
		return cmp.Or(
			cmp.Compare(ports[a].sent, ports[b].sent), cmp.Compare(ports[a].peak, ports[b].peak),
			cmp.Compare(b.Switch, a.Switch), cmp.Compare(b.Port, a.Port))
	}), true
}

// Occupancy is the length of one port's queues together over time, thinned to
// bins.
type Occupancy struct {
	Scheme string
	Mean   []XY // lab time in us, mean of the samples in KB
	Peak   []XY // largest in KB

	Marks   []int64 // packets that were marked, at the same places
	Packets []int64 // that left
}

// XY is one place on a course.
type XY struct{ X, Y float64 }

// bins is how many places the plot of a series has at most.
const bins = 300

// BinOf is the bin of a time before end, and middle the time in us in the middle
// of one.
func BinOf(at, end time.Duration, bins int) int {
	return min(int(int64(at)*int64(bins)/max(int64(end), 1)), bins-1)
}

func Middle(bin int, end time.Duration, bins int) float64 {
	return Microseconds(end) * (2*float64(bin) + 1) / float64(2*bins)
}

// Occupy thins the samples of a port over the time up to end.
func Occupy(scheme string, samples []QueueSample, p PortName, end time.Duration) Occupancy {
	o := Occupancy{Scheme: scheme}
	type bin struct {
		sum, peak      float64
		marks, packets int64
		n              int
	}
	var in [bins]bin
	for _, q := range together(samples, p) {
		b := &in[BinOf(q.At, end, bins)]
		b.sum += float64(q.Bytes) / 1e3
		b.peak = max(b.peak, float64(q.PeakBytes)/1e3)
		b.marks += q.Marks
		b.packets += q.Packets
		b.n++
	}
	for i, b := range in {
		if b.n > 0 {
			at := Middle(i, end, bins)
			o.Mean = append(o.Mean, XY{at, b.sum / float64(b.n)})
			o.Peak = append(o.Peak, XY{at, b.peak})
			o.Marks = append(o.Marks, b.marks)
			o.Packets = append(o.Packets, b.packets)
		}
	}
	return o
}

// together adds up the queues of a port for every instant. Queues peak at
// different times, so the port's peak is the larger of the sum at the instant
// and the highest single peak: a lower bound.
func together(samples []QueueSample, p PortName) []QueueSample {
	var out []QueueSample
	at := make(map[time.Duration]int)
	for _, s := range samples {
		if s.Switch != p.Switch || s.Port != p.Port {
			continue
		}
		i, ok := at[s.At]
		if !ok {
			i = len(out)
			at[s.At] = i
			out = append(out, QueueSample{At: s.At})
		}
		out[i].Bytes += s.Bytes
		out[i].PeakBytes = max(out[i].PeakBytes, s.PeakBytes)
		out[i].Marks += s.Marks
		out[i].Packets += s.Packets
	}
	for i := range out {
		out[i].PeakBytes = max(out[i].PeakBytes, out[i].Bytes)
	}
	return out
}

// LastSample is the time of the last sample.
func LastSample(samples []QueueSample) (end time.Duration) {
	for _, s := range samples {
		end = max(end, s.At)
	}
	return end
}
