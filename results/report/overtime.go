package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report/figure"
	"aqmlab/results/store"
)

// on puts a course on axes in other units.
func on(course []results.XY, x, y unit) []figure.Point {
	out := make([]figure.Point, len(course))
	for i, p := range course {
		out[i] = figure.Point{X: p.X / x.scale, Y: p.Y / y.scale}
	}
	return out
}

// marks are the lab times at which something happened to the network: figures over time
// have a line at each.
type marks []time.Duration

// marksOf are those of the events of runs.
func marksOf(runs []*store.Run) marks {
	var all marks
	for _, r := range runs {
		for _, e := range r.Manifest.Events {
			all = append(all, time.Duration(e.At))
			if e.For > 0 {
				all = append(all, time.Duration(e.At+e.For))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// on puts the marks on an axis.
func (m marks) on(x unit) []float64 {
	var all []float64
	for _, at := range m {
		all = append(all, results.Microseconds(at)/x.scale)
	}
	return all
}

// queueFigures draws one panel a scheme, all to the same scales.
func (m marks) queueFigures(c compare.Comparison, series []results.Occupancy, file string) []figure.Figure {
	var end, top float64
	for _, o := range series {
		for _, p := range o.Peak {
			end, top = max(end, p.X), max(top, p.Y)
		}
	}
	x, y := timeUnit(0, end), unit{"KB", 1}
	if top >= 1e4 {
		y = unit{"MB", 1e3}
	}
	var figures []figure.Figure
	for _, o := range series {
		if len(o.Mean) == 0 {
			continue
		}
		n := style(c, o.Scheme)
		figures = append(figures, figure.Figure{
			Name: stem("queue", o.Scheme, file), Title: o.Scheme, About: "Queue length over time under " + o.Scheme,
			X:     figure.Axis{Title: fmt.Sprintf("time (%s)", x.name), High: end / x.scale},
			Y:     figure.Axis{Title: fmt.Sprintf("queue length (%s)", y.name), High: top / y.scale},
			Marks: m.on(x),
			Series: []figure.Series{
				{Name: "peak", Style: n, Form: figure.Shade, Points: on(o.Peak, x, y)},
				{Name: o.Scheme + ", mean", Style: n, Form: figure.Plain, Points: on(o.Mean, x, y)},
			},
		})
	}
	return figures
}

// rateBins is how many places the plot of a rate has, and rateLines how many
// queues or services: those that sent the most.
const (
	rateBins  = 60
	rateLines = 8
)

// rates are what left each queue, or what each service delivered, over time, in
// Mbps.
type rates struct {
	scheme string
	lines  map[int32][]results.XY // lab time in us
}

// portion is what a queue or service sent in an interval that ends at that time.
type portion struct {
	at    time.Duration
	from  int32
	bytes int64
}

// sentBy are the portions of a port's queues.
func sentBy(p results.PortName, samples []results.QueueSample) []portion {
	var portions []portion
	for _, s := range samples {
		if s.Switch == p.Switch && s.Port == p.Port {
			portions = append(portions, portion{s.At, s.Queue, s.Sent})
		}
	}
	return portions
}

// deliveredBy are the portions of services.
func deliveredBy(samples []results.ServiceSample) []portion {
	portions := make([]portion, len(samples))
	for i, s := range samples {
		portions[i] = portion{s.At, s.Service, s.Bytes}
	}
	return portions
}

// ratesOf adds up portions in bins over the time up to end.
func ratesOf(scheme string, portions []portion, end time.Duration) rates {
	sent, total := make(map[int32]*[rateBins]float64), make(map[int32]float64)
	for _, p := range portions {
		if sent[p.from] == nil {
			sent[p.from] = new([rateBins]float64)
		}
		sent[p.from][results.BinOf(p.at, end, rateBins)] += float64(p.bytes)
		total[p.from] += float64(p.bytes)
	}
	busiest := slices.SortedFunc(maps.Keys(sent), func(a, b int32) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b))
	})
	r := rates{scheme, make(map[int32][]results.XY)}
	for _, q := range busiest[:min(len(busiest), rateLines)] {
		for i, bytes := range sent[q] {
			mbps := bytes * 8 / (results.Microseconds(end) / rateBins)
			r.lines[q] = append(r.lines[q], results.XY{X: results.Middle(i, end, rateBins), Y: mbps})
		}
	}
	return r
}

// rateFigures draws one panel a scheme, with a line for each of what the rates are
// of, all to the same scales.
func (m marks) rateFigures(of string, series []rates, end time.Duration, load float64) []figure.Figure {
	top := 0.0
	for _, r := range series {
		for _, course := range r.lines {
			for _, p := range course {
				top = max(top, p.Y)
			}
		}
	}
	x, y := timeUnit(0, results.Microseconds(end)), unit{"Mbps", 1}
	if top >= 1e3 {
		y = unit{"Gbps", 1e3}
	}
	var figures []figure.Figure
	for _, r := range series {
		if top == 0 || len(r.lines) == 0 {
			continue
		}
		f := figure.Figure{
			Name: stem("goodput", of, r.scheme, loadName(load)), Title: r.scheme, About: "Goodput of each " + of + " over time under " + r.scheme,
			X:     figure.Axis{Title: fmt.Sprintf("time (%s)", x.name), High: results.Microseconds(end) / x.scale},
			Y:     figure.Axis{Title: fmt.Sprintf("goodput (%s)", y.name), High: top / y.scale},
			Marks: m.on(x),
		}
		for i, q := range slices.Sorted(maps.Keys(r.lines)) {
			f.Series = append(f.Series, figure.Series{
				Name: fmt.Sprintf("%s %d", of, q), Style: i, Marked: float64(i) / float64(len(r.lines)), Points: on(r.lines[q], x, y),
			})
		}
		figures = append(figures, f)
	}
	return figures
}
