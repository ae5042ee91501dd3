package response

import (
	"slices"
	"strings"

	"aqmlab/results"
)

// Map is how a metric of one scheme responds to two axes.
type Map struct {
	Scheme string    `json:"scheme"`
	Held   string    `json:"held,omitempty"` // where the other axes are held, in words
	Spots  []MapSpot `json:"spots"`          // where nothing was measured there is none
}

// MapSpot is an estimate at two values.
type MapSpot struct {
	X           string `json:"x"`
	Y           string `json:"y"`
	row, column int
	Best        bool             `json:"best"` // none of the map is better
	Estimate    results.Estimate `json:"estimate"`
	Low         int              `json:"low_fidelity,omitempty"` // how many of its points have low fidelity
}

// Name is the scheme, and where the other axes are held.
func (m Map) Name() string { return strings.TrimSpace(m.Scheme + " " + m.Held) }

// maps makes a map for each scheme that both axes concern, at every combination of the
// other values. Of many combinations some are chosen, as left says. Where one of the two
// axes alone is a setting, spots are compared under each value of the other.
func (g *grid) maps(over [2]int, settings []int, m results.Metric) (all []Map, left string) {
	x, y := over[0], over[1]
	named := over[:]
	schemes := slices.DeleteFunc(slices.Clone(g.schemes), func(s string) bool { return !g.concerns(x, s) || !g.concerns(y, s) })
	held := g.choose(g.others(named, ""))
	for _, scheme := range schemes {
		for i, levels := range g.choose(g.others(named, scheme)) {
			held[i] = levels
		}
	}
	of := func(c choice, scheme string) choice {
		part := g.part(c, named, scheme)
		for _, i := range g.others(named, "") {
			part[i] = c[i]
		}
		return part
	}
	held.fit(maxPanels, func(c choice) (n int) {
		for _, scheme := range schemes {
			n += of(c, scheme).size()
		}
		return n
	})
	for _, scheme := range schemes {
		for _, levels := range of(held, scheme).combinations(len(g.axes)) {
			if found := g.mapAt(named, m, scheme, levels); len(found.Spots) > 0 {
				found.frame(m, slices.Contains(settings, x), slices.Contains(settings, y))
				all = append(all, found)
			}
		}
	}
	return all, g.left(held)
}

// mapAt is the map of a scheme over two axes, the others being at levels.
func (g *grid) mapAt(over []int, m results.Metric, scheme string, levels []int) Map {
	x, y := over[0], over[1]
	out := Map{Scheme: scheme, Held: g.held(append(g.others(over, ""), g.others(over, scheme)...), levels)}
	levels = slices.Clone(levels)
	for row, yValue := range g.axes[y].Values {
		for column, xValue := range g.axes[x].Values {
			levels[x], levels[y] = column, row
			cell := g.at(scheme, levels)
			if e, ok := cell.estimate(m.Name); ok {
				out.Spots = append(out.Spots, MapSpot{X: xValue, Y: yValue, row: row, column: column, Estimate: e, Low: cell.low})
			}
		}
	}
	return out
}

// frame finds the best spots: of each column where y alone is a setting, of each row where
// x alone is, else of the map.
func (m Map) frame(metric results.Metric, xSetting, ySetting bool) {
	group := func(s MapSpot) int {
		switch {
		case ySetting && !xSetting:
			return s.column
		case xSetting && !ySetting:
			return s.row
		}
		return 0
	}
	best := make(map[int]float64)
	for _, s := range m.Spots {
		if v, ok := best[group(s)]; !ok || better(metric, s.Estimate.Mean, v) {
			best[group(s)] = s.Estimate.Mean
		}
	}
	for i, s := range m.Spots {
		m.Spots[i].Best = s.Estimate.Mean == best[group(s)]
	}
}

// better tells whether one value of a metric is better than another.
func better(m results.Metric, a, b float64) bool {
	if m.Lower {
		return a < b
	}
	return a > b
}
