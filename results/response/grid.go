package response

import (
	"fmt"
	"slices"

	"aqmlab/results"
)

// grid is a set in which everything that was measured has its place.
type grid struct {
	axes    []Axis
	schemes []string
	mine    map[string][]bool // by scheme: which axes concern it
	seeds   []uint64
	cells   map[string]*cell // by key
	order   []*cell          // as their points come first
	metrics []results.Metric // all that a point has: those of the table, then those of programs
	example Point            // of low fidelity
}

// everywhere is the level of an axis that does not concern a cell's scheme.
const everywhere = -1

// cell is one scheme at one value of each axis that concerns it.
type cell struct {
	scheme  string
	levels  []int // by axis: which of its values, or everywhere
	seeds   []uint64
	figures []map[string]float64 // by seed
	low     int                  // how many of the seeds have low fidelity
}

// keyOf tells cells apart.
func keyOf(scheme string, levels []int) string {
	key := make([]byte, 0, len(scheme)+2*len(levels))
	key = append(key, scheme...)
	for _, l := range levels {
		key = append(key, byte(l+1), byte((l+1)>>8))
	}
	return string(key)
}

// gridOf puts the points of a set into their places. Of points that are the same but
// for what does not concern their scheme, the first counts.
func gridOf(s Set) (*grid, error) {
	g := &grid{axes: s.Axes, schemes: schemesOf(s.Points), mine: make(map[string][]bool), cells: make(map[string]*cell), metrics: results.Metrics()}
	places := make([]map[string]int, len(s.Axes))
	for i, a := range s.Axes {
		places[i] = make(map[string]int)
		for k, v := range a.Values {
			places[i][v] = k
		}
		for _, scheme := range g.schemes {
			g.mine[scheme] = append(g.mine[scheme], concerns(a.Key, scheme, g.schemes))
		}
	}
	for _, p := range s.Points {
		levels := make([]int, len(s.Axes))
		for i, v := range p.Values {
			levels[i] = everywhere
			if g.mine[p.Scheme][i] {
				k, ok := places[i][v]
				if !ok {
					return nil, fmt.Errorf("%v: %w %q of %s", p.Coord, ErrNoValue, v, s.Axes[i].Key)
				}
				levels[i] = k
			}
		}
		g.add(p, levels)
	}
	return g, nil
}

func (g *grid) add(p Point, levels []int) {
	key := keyOf(p.Scheme, levels)
	c := g.cells[key]
	if c == nil {
		c = &cell{scheme: p.Scheme, levels: levels}
		g.cells[key] = c
		g.order = append(g.order, c)
	}
	if slices.Contains(c.seeds, p.Seed) {
		return
	}
	for _, m := range p.Programs {
		if !slices.ContainsFunc(g.metrics, func(o results.Metric) bool { return o.Name == m.Name }) {
			g.metrics = append(g.metrics, m)
		}
	}
	if !slices.Contains(g.seeds, p.Seed) {
		g.seeds = append(g.seeds, p.Seed)
	}
	if len(p.Low) > 0 {
		if c.low++; g.example.Low == nil {
			g.example = p
		}
	}
	c.seeds, c.figures = append(c.seeds, p.Seed), append(c.figures, p.Figures)
}

// at is the cell of a scheme at levels, of which those that do not concern the scheme
// are not looked at; nil: nothing was measured there.
func (g *grid) at(scheme string, levels []int) *cell {
	own := slices.Clone(levels)
	for i := range own {
		if !g.concerns(i, scheme) {
			own[i] = everywhere
		}
	}
	return g.cells[keyOf(scheme, own)]
}

func (g *grid) concerns(axis int, scheme string) bool { return g.mine[scheme][axis] }

// shared tells whether an axis concerns all schemes.
func (g *grid) shared(axis int) bool { return !ofScheme(g.axes[axis].Key) }

// varied tells whether an axis has several values.
func (g *grid) varied(axis int) bool { return len(g.axes[axis].Values) > 1 }

// estimate is a metric's mean over the seeds of the cell that have it; ok is false where
// none has.
func (c *cell) estimate(metric string) (e results.Estimate, ok bool) {
	if c == nil {
		return e, false
	}
	values := make([]float64, 0, len(c.figures))
	for _, f := range c.figures {
		if v, ok := f[metric]; ok {
			values = append(values, v)
		}
	}
	return results.EstimateOf(values), len(values) > 0
}

// has tells whether any point has a metric.
func (g *grid) has(metric string) bool {
	return slices.ContainsFunc(g.order, func(c *cell) bool { _, ok := c.estimate(metric); return ok })
}

// had is the first of two metrics if any point has it, else the second if any has that:
// labs need not have flows of every class. Those of programs alone have their first figure.
func (g *grid) had(first, second string) string {
	for _, name := range []string{first, second} {
		if g.has(name) {
			return name
		}
	}
	if own := g.programs(); len(own) > 0 {
		return own[0].Name
	}
	return first
}

// programs are the metrics that are figures of programs.
func (g *grid) programs() []results.Metric { return g.metrics[len(results.Metrics()):] }

// metric finds one of the metrics by its name. The error for another lists all names.
func (g *grid) metric(name string) (results.Metric, error) {
	return results.FindMetric(name, g.programs()...)
}

// expected is how many points there would be if none was missing.
func (g *grid) expected() int {
	n := 0
	for _, scheme := range g.schemes {
		cells := 1
		for i, a := range g.axes {
			if g.concerns(i, scheme) {
				cells *= len(a.Values)
			}
		}
		n += cells * len(g.seeds)
	}
	return n
}

// measured is how many there are.
func (g *grid) measured() (n int) {
	for _, c := range g.order {
		n += len(c.seeds)
	}
	return n
}
