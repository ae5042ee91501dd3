package response

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aqmlab/results"
	"aqmlab/results/report/figure"
	"aqmlab/results/report/layout"
	"aqmlab/units"
)

// scale is a unit, and how many of the smallest one it is.
type scale struct {
	name string
	of   float64
}

// quantity is a sort of values that have a place on an axis.
type quantity struct {
	parse  func(string) (float64, error)
	scales []scale // from the smallest
}

func quantities() []quantity {
	return []quantity{
		{func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }, []scale{{"", 1}}},
		{func(s string) (float64, error) { d, err := units.ParseTime(s); return float64(d), err }, []scale{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}},
		{func(s string) (float64, error) { v, err := units.ParseSize(s); return float64(v), err }, []scale{{"B", 1}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}}},
		{func(s string) (float64, error) { v, err := units.ParseRate(s); return float64(v), err }, []scale{{"bps", 1}, {"Kbps", 1e3}, {"Mbps", 1e6}, {"Gbps", 1e9}}},
	}
}

// wide is how many times the smallest value the largest is when an axis is logarithmic.
const wide = 20

// places are where the values of the axis lie, and the axis of a figure. Values that
// are not all of one quantity lie beside each other, in their order.
func (a Axis) places() ([]float64, figure.Axis) {
	for _, q := range quantities() {
		at := make([]float64, len(a.Values))
		ok := true
		for i, s := range a.Values {
			v, err := q.parse(s)
			at[i], ok = v, ok && err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
		}
		if !ok {
			continue
		}
		low, high := slices.Min(at), slices.Max(at)
		u := q.scales[0]
		for _, larger := range q.scales[1:] {
			if smallest(at) >= larger.of {
				u = larger
			}
		}
		for i := range at {
			at[i] /= u.of
		}
		return at, figure.Axis{Title: titled(a.Key, u.name), Low: low / u.of, High: high / u.of, Log: low > 0 && high/low >= wide}
	}
	at := make([]float64, len(a.Values))
	for i := range at {
		at[i] = float64(i)
	}
	return at, figure.Axis{Title: a.Key, Columns: a.Values}
}

// smallest is the smallest of the values above zero.
func smallest(values []float64) float64 {
	least := math.Inf(1)
	for _, v := range values {
		if v > 0 {
			least = min(least, v)
		}
	}
	return least
}

func titled(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + " (" + unit + ")"
}

// scaleOf is the unit for values of a metric up to a highest.
func scaleOf(m results.Metric, high float64) scale {
	switch {
	case m.Unit == "us" && high >= 1e7:
		return scale{"s", 1e6}
	case m.Unit == "us" && high >= 1e4:
		return scale{"ms", 1e3}
	case m.Unit == "bytes" && high >= 1e7:
		return scale{"MB", 1e6}
	case m.Unit == "bytes" && high >= 1e4:
		return scale{"KB", 1e3}
	}
	return scale{m.Unit, 1}
}

// show prints a value of a metric with its unit, in at most 9 characters.
func show(m results.Metric, v float64) string {
	switch u := scaleOf(m, v); {
	case m.Unit == "us":
		return layout.Micros(v)
	case m.Unit == "bytes":
		return fmt.Sprintf("%.1f%s", v/u.of, strings.Replace(u.name, "bytes", "B", 1))
	case m.Unit == "":
		return fmt.Sprintf("%.4f", v)
	case v < 1000 && v != math.Trunc(v):
		return fmt.Sprintf("%.1f", v)
	}
	return layout.Count(int64(math.Round(v)))
}

// showEstimate is the mean, with half of its interval as a share of it.
func showEstimate(m results.Metric, e results.Estimate) string {
	text := show(m, e.Mean)
	if _, _, ok := e.Interval(); ok && e.Mean != 0 {
		text += fmt.Sprintf(" ±%.0f%%", math.Abs(100*e.Half/e.Mean))
	}
	return text
}

// explain is the mean and its interval in words.
func explain(m results.Metric, e results.Estimate) string {
	low, high, ok := e.Interval()
	if !ok {
		return show(m, e.Mean) + ", one seed"
	}
	return fmt.Sprintf("%s (%s to %s), %d seeds", show(m, e.Mean), show(m, low), show(m, high), e.Count)
}
