package response

import (
	"slices"
	"strings"

	"aqmlab/results"
)

// What fits into one look.
const (
	maxPanels = 12
	maxLines  = 8 // as many as there are colours
)

// Panel is how a metric responds to one axis while the others that all schemes share
// are held.
type Panel struct {
	Held  string `json:"held,omitempty"` // where, in words
	Lines []Line `json:"lines"`
}

// Line is one scheme at one value of each further axis that concerns it alone.
type Line struct {
	Scheme string `json:"scheme"`
	Held   string `json:"held,omitempty"` // at which values, in words
	// Flat tells that the axis does not concern the scheme: its one place is true of the
	// whole axis.
	Flat   bool    `json:"flat,omitempty"`
	Places []Place `json:"places"` // in the order of the axis; where nothing was measured there is none
}

// Place is a metric's estimate at one value of the axis.
type Place struct {
	Value    string `json:"value,omitempty"` // empty where the line is flat
	level    int
	Estimate results.Estimate `json:"estimate"`
	Low      int              `json:"low_fidelity,omitempty"` // how many of its points have low fidelity
}

// Name is the scheme, and where it is held.
func (l Line) Name() string { return strings.TrimSpace(l.Scheme + " " + l.Held) }

// curves makes a panel for every combination of the values of the axes that all schemes
// share, and in each a line for every scheme and combination of its own. Of many values
// some are chosen, as left says.
func (g *grid) curves(axis int, m results.Metric) (panels []Panel, left string) {
	named := []int{axis}
	shared := g.others(named, "")
	held := g.choose(shared)
	held.fit(maxPanels, choice.size)

	own := make(choice)
	for _, scheme := range g.schemes {
		for i, levels := range g.choose(g.others(named, scheme)) {
			own[i] = levels
		}
	}
	own.fit(maxLines, func(c choice) (lines int) {
		for _, scheme := range g.schemes {
			lines += g.part(c, named, scheme).size()
		}
		return lines
	})
	for _, levels := range held.combinations(len(g.axes)) {
		p := Panel{Held: g.held(shared, levels)}
		for _, scheme := range g.schemes {
			for _, variant := range g.part(own, named, scheme).combinations(len(g.axes)) {
				for _, i := range shared {
					variant[i] = levels[i]
				}
				if l := g.line(axis, m, scheme, variant); len(l.Places) > 0 {
					p.Lines = append(p.Lines, l)
				}
			}
		}
		if len(p.Lines) > 0 {
			panels = append(panels, p)
		}
	}
	return panels, joined(g.left(held), g.left(own))
}

// part is what a choice has of the axes of one scheme.
func (g *grid) part(c choice, named []int, scheme string) choice {
	part := make(choice)
	for _, i := range g.others(named, scheme) {
		part[i] = c[i]
	}
	return part
}

// line is a scheme along an axis, the others being at levels.
func (g *grid) line(axis int, m results.Metric, scheme string, levels []int) Line {
	l := Line{Scheme: scheme, Held: g.held(g.others([]int{axis}, scheme), levels), Flat: !g.concerns(axis, scheme)}
	levels = slices.Clone(levels)
	for level, value := range g.axes[axis].Values {
		levels[axis] = level
		cell := g.at(scheme, levels)
		if e, ok := cell.estimate(m.Name); ok {
			l.Places = append(l.Places, Place{Value: value, level: level, Estimate: e, Low: cell.low})
		}
		if l.Flat {
			break
		}
	}
	if l.Flat && len(l.Places) > 0 {
		l.Places[0].Value = ""
	}
	return l
}

// joined puts two lists in words together.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}
