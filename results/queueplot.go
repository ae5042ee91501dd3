package results

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// portName names a switch port.
type portName struct{ sw, port string }

func (p portName) String() string { return p.sw + " to " + p.port }

// bottleneck is the port that sent the most bytes, or among idle ones held the
// most. ok is false without samples.
func bottleneck(samples []QueueSample) (p portName, ok bool) {
	type load struct{ sent, peak int64 }
	ports := make(map[portName]load)
	for _, s := range samples {
		k := portName{s.Switch, s.Port}
		l := ports[k]
		ports[k] = load{l.sent + s.Sent, max(l.peak, s.PeakBytes)}
	}
	if len(ports) == 0 {
		return p, false
	}
	return slices.MaxFunc(slices.Collect(maps.Keys(ports)), func(a, b portName) int {
		return cmp.Or(
			cmp.Compare(ports[a].sent, ports[b].sent), cmp.Compare(ports[a].peak, ports[b].peak),
			cmp.Compare(b.sw, a.sw), cmp.Compare(b.port, a.port))
	}), true
}

// occupancy is the length of one port's queues together over time, thinned to
// bins.
type occupancy struct {
	scheme string
	mean   []xy // lab time in ms, mean of the samples in KB
	peak   []xy // largest in KB
}

// bins is how many places the plot of a series has at most.
const bins = 400

// occupy thins the samples of a port over the time up to end.
func occupy(scheme string, samples []QueueSample, p portName, end time.Duration) occupancy {
	o := occupancy{scheme: scheme}
	type bin struct {
		sum, peak float64
		n         int
	}
	var in [bins]bin
	for _, q := range together(samples, p) {
		b := &in[min(int(int64(q.At)*bins/max(int64(end), 1)), bins-1)]
		b.sum += float64(q.Bytes) / 1e3
		b.peak = max(b.peak, float64(q.PeakBytes)/1e3)
		b.n++
	}
	for i, b := range in {
		if b.n > 0 {
			ms := (float64(i) + 0.5) / bins * float64(end) / 1e6
			o.mean = append(o.mean, xy{ms, b.sum / float64(b.n)})
			o.peak = append(o.peak, xy{ms, b.peak})
		}
	}
	return o
}

// together adds up the queues of a port for every instant. Queues peak at
// different times, so the port's peak is the larger of the sum at the instant
// and the highest single peak: a lower bound.
func together(samples []QueueSample, p portName) []QueueSample {
	var out []QueueSample
	at := make(map[time.Duration]int)
	for _, s := range samples {
		if s.Switch != p.sw || s.Port != p.port {
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
	}
	for i := range out {
		out[i].PeakBytes = max(out[i].PeakBytes, out[i].Bytes)
	}
	return out
}

// lastSample is the time of the last sample.
func lastSample(samples []QueueSample) (end time.Duration) {
	for _, s := range samples {
		end = max(end, s.At)
	}
	return end
}

// queueCharts draws one panel a scheme, all to the same scales.
func queueCharts(c Comparison, series []occupancy) []chart {
	var end, top float64
	for _, o := range series {
		for _, p := range o.peak {
			end, top = max(end, p.x), max(top, p.y)
		}
	}
	var charts []chart
	for _, o := range series {
		if len(o.mean) == 0 {
			continue
		}
		ch := chart{
			Title: o.scheme, Label: "Queue length over time under " + o.scheme,
			XLabel: "lab time (ms)", YLabel: "queue (KB)",
			W: 460, H: 170, Left: 56, Right: 446, Top: 10, Bottom: 126,
		}
		x, y := linear(0, end, ch.Left, ch.Right), linear(0, top, ch.Bottom, ch.Top)
		ch.XTicks, ch.YTicks = x.ticks(), y.ticks()
		n := style(c, o.scheme)
		ch.Lines = []line{{area(o.peak, x, y), n, "area"}, {path(o.mean, x, y), n, "line solid"}}
		charts = append(charts, ch)
	}
	return charts
}
