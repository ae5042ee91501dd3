package response

import (
	"math"

	"aqmlab/results"
)

// Best is the setting of a scheme with the best mean of a metric under a condition.
type Best struct {
	Condition string           `json:"condition,omitempty"` // in words; empty where there is but one
	Scheme    string           `json:"scheme"`
	Metric    string           `json:"metric"`
	Values    string           `json:"values,omitempty"` // of the setting, in words
	Estimate  results.Estimate `json:"estimate"`
	First     bool             `json:"first"`                  // no other scheme's best is better
	Low       int              `json:"low_fidelity,omitempty"` // how many of its points have low fidelity
}

// best lists the best settings by condition, metric and scheme.
func (g *grid) best(all []condition, settings []int, metrics []results.Metric) (out []Best) {
	for _, c := range all {
		for _, m := range metrics {
			begin := len(out)
			for _, scheme := range g.schemes {
				if cell, e := bestOf(c, m, scheme); cell != nil {
					out = append(out, Best{Condition: c.words, Scheme: scheme, Metric: m.Name, Values: g.held(settings, cell.levels), Estimate: e, Low: cell.low})
				}
			}
			mine := out[begin:]
			for i := range mine {
				mine[i].First = true
				for _, other := range mine {
					mine[i].First = mine[i].First && !better(m, other.Estimate.Mean, mine[i].Estimate.Mean)
				}
			}
		}
	}
	return out
}

// bestOf is the cell of a scheme with the best mean; nil: it has none.
func bestOf(c condition, m results.Metric, scheme string) (best *cell, least results.Estimate) {
	for _, cell := range c.cells {
		if cell.scheme != scheme {
			continue
		}
		if e, ok := cell.estimate(m.Name); ok && (best == nil || better(m, e.Mean, least.Mean)) {
			best, least = cell, e
		}
	}
	return best, least
}

// Robust is the setting of a scheme that is close to the scheme's best under all
// conditions: of the settings that were measured under each, the one whose worst ratio
// to the best under the same condition is closest to 1.
type Robust struct {
	Scheme string  `json:"scheme"`
	Metric string  `json:"metric"`
	Values string  `json:"values"` // in words
	Worst  float64 `json:"worst_percent"`
	Where  string  `json:"where"`                  // the condition under which it is that much worse than the best
	Low    int     `json:"low_fidelity,omitempty"` // how many of its points have low fidelity, under all conditions
}

// robust finds them for the schemes that have several settings, where there are several
// conditions.
func (g *grid) robust(all []condition, settings []int, m results.Metric) (out []Robust) {
	if len(all) < 2 {
		return nil
	}
	for _, scheme := range g.schemes {
		worst := make(map[string]*Robust)
		var order []*Robust
		measured := make(map[string]int)
		for _, c := range all {
			cell, top := bestOf(c, m, scheme)
			if cell == nil {
				continue
			}
			for _, cell := range c.cells {
				e, ok := cell.estimate(m.Name)
				if cell.scheme != scheme || !ok {
					continue
				}
				values := g.held(settings, cell.levels)
				r := worst[values]
				if r == nil {
					r = &Robust{Scheme: scheme, Metric: m.Name, Values: values, Where: c.words}
					worst[values], order = r, append(order, r)
				}
				measured[values]++
				r.Low += cell.low
				if behind := behindPercent(m, e.Mean, top.Mean); behind > r.Worst {
					r.Worst, r.Where = behind, c.words
				}
			}
		}
		var best *Robust
		for _, r := range order {
			if measured[r.Values] == len(all) && (best == nil || r.Worst < best.Worst) {
				best = r
			}
		}
		if best != nil && len(order) > 1 && !math.IsInf(best.Worst, 0) {
			out = append(out, *best)
		}
	}
	return out
}

// behindPercent is how much worse a value is than the best, in percent of it.
func behindPercent(m results.Metric, v, best float64) float64 {
	ratio := v / best
	if !m.Lower {
		ratio = best / v
	}
	if v == best {
		ratio = 1
	}
	return 100 * (ratio - 1)
}
