package response

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"aqmlab/results"
)

// output is what WriteJSON writes.
type output struct {
	Title    string           `json:"title"`
	Axes     []Axis           `json:"axes"`
	Metric   string           `json:"metric"`
	Metrics  []metricOutput   `json:"metrics"`
	Over     []string         `json:"over"`
	Curves   []Panel          `json:"curves"`
	Maps     []Map            `json:"maps"`
	FrontOf  [2]string        `json:"front_of"`
	Fronts   []Front          `json:"fronts"`
	Best     []Best           `json:"best"`
	Robust   []Robust         `json:"robust"`
	Effects  []Effect         `json:"effects"`
	Notes    []string         `json:"notes"`
	Warnings []string         `json:"warnings"`
	Cells    []map[string]any `json:"cells"`
}

// metricOutput explains a metric of the cells.
type metricOutput struct {
	Name  string `json:"name"`
	Unit  string `json:"unit,omitempty"`
	Doc   string `json:"doc"`
	Lower bool   `json:"lower_is_better"`
}

// WriteJSON writes all of the view, and each cell (a scheme at one value of every axis
// that concerns it) with the estimates of all its metrics.
func (v *View) WriteJSON(w io.Writer) error {
	o := output{
		Title: v.Title, Axes: v.grid.axes, Metric: v.Metric.Name, Over: []string{}, Curves: orEmpty(v.Panels), Maps: orEmpty(v.Maps),
		FrontOf: [2]string{v.Front[0].Name, v.Front[1].Name}, Fronts: orEmpty(v.Fronts), Best: orEmpty(v.Bests), Robust: orEmpty(v.Robusts),
		Effects: orEmpty(v.Effects), Notes: orEmpty(v.Notes), Warnings: orEmpty(v.Warnings), Cells: []map[string]any{},
	}
	for _, a := range v.Over {
		o.Over = append(o.Over, a.Key)
	}
	for _, m := range v.grid.metrics {
		o.Metrics = append(o.Metrics, metricOutput{m.Name, m.Unit, m.Doc, m.Lower})
	}
	for _, c := range v.grid.order {
		values, figures := make(map[string]string), make(map[string]results.Estimate)
		for i, level := range c.levels {
			if level != everywhere {
				values[v.grid.axes[i].Key] = v.grid.axes[i].Values[level]
			}
		}
		for _, m := range v.grid.metrics {
			if e, ok := c.estimate(m.Name); ok {
				figures[m.Name] = e
			}
		}
		o.Cells = append(o.Cells, map[string]any{"scheme": c.scheme, "values": values, "seeds": c.seeds, "low_fidelity": c.low, "figures": figures})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(o); err != nil {
		return fmt.Errorf("writing what the sweep shows: %w", err)
	}
	return nil
}

// orEmpty has JSON write [] for nothing.
func orEmpty[T any](all []T) []T { return append([]T{}, all...) }

// WriteCSV writes a row for each cell and metric: scheme, the value of each axis, metric,
// unit, number of seeds, mean, the ends of the 95 % interval, and how many of the seeds have
// low fidelity. The value of an axis that does not concern the scheme is empty, and so are
// the ends with one seed.
func (v *View) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := []string{"scheme"}
	for _, a := range v.grid.axes {
		head = append(head, a.Key)
	}
	rows := [][]string{append(head, "metric", "unit", "seeds", "mean", "low", "high", "low_fidelity")}
	for _, c := range v.grid.order {
		cell := []string{c.scheme}
		for i, level := range c.levels {
			value := ""
			if level != everywhere {
				value = v.grid.axes[i].Values[level]
			}
			cell = append(cell, value)
		}
		for _, m := range v.grid.metrics {
			e, ok := c.estimate(m.Name)
			if !ok {
				continue
			}
			row := append(append([]string{}, cell...), m.Name, m.Unit, strconv.Itoa(e.Count), number(e.Mean), "", "", strconv.Itoa(c.low))
			if low, high, ok := e.Interval(); ok {
				row[len(row)-3], row[len(row)-2] = number(low), number(high)
			}
			rows = append(rows, row)
		}
	}
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("writing what the sweep shows: %w", err)
	}
	return nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
