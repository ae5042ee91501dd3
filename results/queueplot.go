package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"aqmlab/results/figure"
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
	mean   []xy // lab time in us, mean of the samples in KB
	peak   []xy // largest in KB
}

// xy is one place on a course.
type xy struct{ x, y float64 }

// bins is how many places the plot of a series has at most.
const bins = 300

// binOf is the bin of a time before end, and middle the time in us in the middle
// of one.
func binOf(at, end time.Duration, bins int) int {
	return min(int(int64(at)*int64(bins)/max(int64(end), 1)), bins-1)
}

func middle(bin int, end time.Duration, bins int) float64 {
	return micros(end) * (2*float64(bin) + 1) / float64(2*bins)
}

// occupy thins the samples of a port over the time up to end.
func occupy(scheme string, samples []QueueSample, p portName, end time.Duration) occupancy {
	o := occupancy{scheme: scheme}
	type bin struct {
		sum, peak float64
		n         int
	}
	var in [bins]bin
	for _, q := range together(samples, p) {
		b := &in[binOf(q.At, end, bins)]
		b.sum += float64(q.Bytes) / 1e3
		b.peak = max(b.peak, float64(q.PeakBytes)/1e3)
		b.n++
	}
	for i, b := range in {
		if b.n > 0 {
			at := middle(i, end, bins)
			o.mean = append(o.mean, xy{at, b.sum / float64(b.n)})
			o.peak = append(o.peak, xy{at, b.peak})
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

// on puts a course on axes in other units.
func on(course []xy, x, y unit) []figure.Point {
	out := make([]figure.Point, len(course))
	for i, p := range course {
		out[i] = figure.Point{X: p.x / x.of, Y: p.y / y.of}
	}
	return out
}

// queueFigures draws one panel a scheme, all to the same scales.
func queueFigures(c Comparison, series []occupancy, file string) []figure.Figure {
	var end, top float64
	for _, o := range series {
		for _, p := range o.peak {
			end, top = max(end, p.x), max(top, p.y)
		}
	}
	x, y := timeUnit(0, end), unit{"KB", 1}
	if top >= 1e4 {
		y = unit{"MB", 1e3}
	}
	var figures []figure.Figure
	for _, o := range series {
		if len(o.mean) == 0 {
			continue
		}
		n := style(c, o.scheme)
		figures = append(figures, figure.Figure{
			Name: stem("queue", o.scheme, file), Title: o.scheme, About: "Queue length over time under " + o.scheme,
			X: figure.Axis{Title: fmt.Sprintf("time (%s)", x.name), High: end / x.of},
			Y: figure.Axis{Title: fmt.Sprintf("queue length (%s)", y.name), High: top / y.of},
			Series: []figure.Series{
				{Name: "peak", Style: n, Form: figure.Shade, Points: on(o.peak, x, y)},
				{Name: o.scheme + ", mean", Style: n, Form: figure.Plain, Points: on(o.mean, x, y)},
			},
		})
	}
	return figures
}
