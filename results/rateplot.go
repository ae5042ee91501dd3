package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"aqmlab/results/figure"
)

// rateBins is how many places the plot of a rate has, and rateQueues how many
// queues: those that sent the most.
const (
	rateBins   = 60
	rateQueues = 8
)

// rates are what left each queue of a port over time, in Mbps at IP.
type rates struct {
	scheme string
	queues map[int32][]xy // lab time in us
}

// ratesOf adds up the samples of a port in bins over the time up to end.
func ratesOf(scheme string, samples []QueueSample, p portName, end time.Duration) rates {
	sent, total := make(map[int32]*[rateBins]float64), make(map[int32]float64)
	for _, s := range samples {
		if s.Switch != p.sw || s.Port != p.port {
			continue
		}
		if sent[s.Queue] == nil {
			sent[s.Queue] = new([rateBins]float64)
		}
		sent[s.Queue][binOf(s.At, end, rateBins)] += float64(s.Sent)
		total[s.Queue] += float64(s.Sent)
	}
	busiest := slices.SortedFunc(maps.Keys(sent), func(a, b int32) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b))
	})
	r := rates{scheme, make(map[int32][]xy)}
	for _, q := range busiest[:min(len(busiest), rateQueues)] {
		for i, bytes := range sent[q] {
			mbps := bytes * 8 / (micros(end) / rateBins)
			r.queues[q] = append(r.queues[q], xy{middle(i, end, rateBins), mbps})
		}
	}
	return r
}

// rateFigures draws one panel a scheme, with a line for each queue, all to the
// same scales.
func rateFigures(series []rates, end time.Duration, file string) []figure.Figure {
	top := 0.0
	for _, r := range series {
		for _, course := range r.queues {
			for _, p := range course {
				top = max(top, p.y)
			}
		}
	}
	x, y := timeUnit(0, micros(end)), unit{"Mbps", 1}
	if top >= 1e3 {
		y = unit{"Gbps", 1e3}
	}
	var figures []figure.Figure
	for _, r := range series {
		if top == 0 || len(r.queues) == 0 {
			continue
		}
		f := figure.Figure{
			Name: stem("goodput", r.scheme, file), Title: r.scheme, About: "Goodput of each queue over time under " + r.scheme,
			X: figure.Axis{Title: fmt.Sprintf("time (%s)", x.name), High: micros(end) / x.of},
			Y: figure.Axis{Title: fmt.Sprintf("goodput (%s)", y.name), High: top / y.of},
		}
		for i, q := range slices.Sorted(maps.Keys(r.queues)) {
			f.Series = append(f.Series, figure.Series{
				Name: fmt.Sprintf("queue %d", q), Style: i, Marked: float64(i) / float64(len(r.queues)), Points: on(r.queues[q], x, y),
			})
		}
		figures = append(figures, f)
	}
	return figures
}
