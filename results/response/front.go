package response

import (
	"slices"
	"strings"

	"aqmlab/results"
)

// Setting is a scheme with one value of each axis that is a setting, under one
// condition, and what it made of the two metrics of a front.
type Setting struct {
	Scheme string           `json:"scheme"`
	Values string           `json:"values,omitempty"` // in words
	A      results.Estimate `json:"a"`
	B      results.Estimate `json:"b"`
	Front  bool             `json:"front"`                  // no other beats it
	Low    int              `json:"low_fidelity,omitempty"` // how many of its points have low fidelity
}

// Name is the scheme with its values.
func (s Setting) Name() string { return strings.TrimSpace(s.Scheme + " " + s.Values) }

// Front is all settings under one condition. A setting beats another if the means of
// both its metrics are no worse, and one is better. Those that no other beats are the
// front (Pareto).
type Front struct {
	Condition string    `json:"condition,omitempty"` // in words; empty where there is but one
	Settings  []Setting `json:"settings"`            // by the first metric, the best first
}

// Ahead are the settings that no other beats, by the first metric.
func (f Front) Ahead() (ahead []Setting) {
	for _, s := range f.Settings {
		if s.Front {
			ahead = append(ahead, s)
		}
	}
	return ahead
}

// condition is the cells that were measured under equal values of those axes that are
// no settings.
type condition struct {
	words string
	cells []*cell
}

// conditions gathers cells by condition: those that are chosen.
func (g *grid) conditions(axes []int, c choice) []condition {
	combinations := c.combinations(len(g.axes))
	all := make([]condition, len(combinations))
	at := make(map[string]int)
	of := func(levels []int) string {
		part := make([]int, len(axes))
		for k, i := range axes {
			part[k] = levels[i]
		}
		return keyOf("", part)
	}
	for k, levels := range combinations {
		all[k].words = g.held(axes, levels)
		at[of(levels)] = k
	}
	for _, cell := range g.order {
		if k, ok := at[of(cell.levels)]; ok {
			all[k].cells = append(all[k].cells, cell)
		}
	}
	return slices.DeleteFunc(all, func(c condition) bool { return len(c.cells) == 0 })
}

// split are the axes with several values that are settings, and those that are
// conditions.
func (g *grid) split(o Options) (settings, conditions []int) {
	for i, a := range g.axes {
		chosen := !g.shared(i) || slices.Contains(o.Settings, a.Key)
		if o.Settings == nil {
			chosen = chosen || strings.HasPrefix(a.Key, "switch.") || strings.HasPrefix(a.Key, "host.")
		}
		switch {
		case !g.varied(i):
		case chosen:
			settings = append(settings, i)
		default:
			conditions = append(conditions, i)
		}
	}
	return settings, conditions
}

// front compares the settings under a condition by two metrics.
func (g *grid) front(c condition, settings []int, metrics [2]results.Metric) Front {
	f := Front{Condition: c.words}
	for _, cell := range c.cells {
		a, okA := cell.estimate(metrics[0].Name)
		b, okB := cell.estimate(metrics[1].Name)
		if okA && okB {
			f.Settings = append(f.Settings, Setting{Scheme: cell.scheme, Values: g.held(settings, cell.levels), A: a, B: b, Low: cell.low})
		}
	}
	slices.SortStableFunc(f.Settings, func(s, o Setting) int {
		for k, pair := range [2][2]float64{{s.A.Mean, o.A.Mean}, {s.B.Mean, o.B.Mean}} {
			if better(metrics[k], pair[0], pair[1]) {
				return -1
			}
			if better(metrics[k], pair[1], pair[0]) {
				return 1
			}
		}
		return 0
	})
	// In this order nothing is beaten by what comes behind it.
	last := -1
	for i, s := range f.Settings {
		if last < 0 || better(metrics[1], s.B.Mean, f.Settings[last].B.Mean) ||
			s.A.Mean == f.Settings[last].A.Mean && s.B.Mean == f.Settings[last].B.Mean {
			f.Settings[i].Front = true
			last = i
		}
	}
	return f
}
