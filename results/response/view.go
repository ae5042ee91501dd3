package response

import (
	"cmp"
	"fmt"
	"slices"

	"aqmlab/results"
)

// View is what a sweep shows, computed: what [View.WriteText], [View.WriteHTML],
// [View.Figures], [View.WriteJSON] and [View.WriteCSV] put out.
type View struct {
	Title   string
	Metric  results.Metric
	Front   [2]results.Metric // of the fronts
	Over    []Axis            // along which Panels lie, and after it the other axis of Maps
	Panels  []Panel
	Maps    []Map // none without a second axis, or where no scheme has both
	Fronts  []Front
	Bests   []Best
	Robusts []Robust
	Effects []Effect
	Notes   []string // what is left out, and how what is there was made
	// Warnings are what to look at before this is trusted.
	Warnings []string

	grid   *grid
	over   []int // which axes Over are
	mapped bool  // maps are what was asked for
}

// New computes what a set shows. The errors for what options name wrap [ErrNoAxis],
// [ErrNoValue] and [results.ErrNoMetric], and list the known names.
func New(s Set, o Options) (*View, error) {
	g, err := prepare(s, o)
	if err != nil {
		return nil, err
	}
	v := &View{Title: cmp.Or(o.Title, "sweep"), grid: g, mapped: len(o.Over) > 1}
	for _, wanted := range []struct {
		into *results.Metric
		name string
	}{
		{&v.Metric, cmp.Or(o.Metric, g.had("small.p99", "all.p99"))},
		{&v.Front[0], cmp.Or(o.Front[0], g.had("small.p99", "all.p99"))},
		{&v.Front[1], cmp.Or(o.Front[1], g.had("large.avg", "all.avg"))},
	} {
		if *wanted.into, err = g.metric(wanted.name); err != nil {
			return nil, err
		}
	}
	over, err := overOf(g, o.Over)
	if err != nil {
		return nil, err
	}
	v.over = over
	settings, conditions := g.split(o)
	v.respond(over, settings)
	v.compare(settings, conditions)
	v.Effects = g.effects(v.Metric)
	v.warn()
	return v, nil
}

// prepare lays the points of the set into a grid.
func prepare(s Set, o Options) (*grid, error) {
	if len(s.Points) == 0 {
		return nil, ErrNoPoints
	}
	for _, p := range s.Points {
		if len(p.Values) != len(s.Axes) {
			return nil, fmt.Errorf("%v: %d values for %d axes", p.Coord, len(p.Values), len(s.Axes))
		}
	}
	s = s.withLoads()
	for _, key := range o.Settings {
		if _, err := s.axis(key); err != nil {
			return nil, err
		}
	}
	s, err := s.at(o.At)
	if err != nil {
		return nil, err
	}
	if len(s.Points) == 0 {
		return nil, ErrNoPoints
	}
	return gridOf(s)
}

// overOf is the axes to show things over.
func overOf(g *grid, keys []string) (over []int, err error) {
	s := Set{Axes: g.axes}
	if len(keys) > 2 || len(keys) == 2 && keys[0] == keys[1] {
		return nil, fmt.Errorf("over %s: want one axis or two different ones", results.Join(keys))
	}
	for _, key := range keys {
		i, err := s.axis(key)
		if err != nil {
			return nil, err
		}
		over = append(over, i)
	}
	for i := range g.axes {
		if len(keys) == 0 && g.varied(i) && len(over) < 2 {
			over = append(over, i)
		}
	}
	return over, nil
}

// respond fills in the curves and the maps.
func (v *View) respond(over, settings []int) {
	for _, i := range over {
		v.Over = append(v.Over, v.grid.axes[i])
	}
	var left string
	if len(over) > 0 {
		v.Panels, left = v.grid.curves(over[0], v.Metric)
		v.leave("Curves", left)
	}
	if len(over) > 1 {
		v.Maps, left = v.grid.maps([2]int(over), settings, v.Metric)
		v.leave("Maps", left)
	}
}

// leave notes what was left out.
func (v *View) leave(what, left string) {
	if left != "" {
		v.Notes = append(v.Notes, fmt.Sprintf("%s show %s. Hold an axis at a value to see another.", what, left))
	}
}

// compare fills in what compares settings, under each combination of the values of the
// other axes.
func (v *View) compare(settings, axes []int) {
	chosen := v.grid.choose(axes)
	chosen.fit(maxPanels, choice.size)
	v.leave("Fronts and best settings", v.grid.left(chosen))
	conditions := v.grid.conditions(axes, chosen)
	for _, c := range conditions {
		if f := v.grid.front(c, settings, v.Front); len(f.Settings) > 0 {
			v.Fronts = append(v.Fronts, f)
		}
	}
	v.Bests = v.grid.best(conditions, settings, v.metrics())
	all := v.grid.conditions(axes, v.grid.choose(axes))
	for _, m := range v.metrics() {
		v.Robusts = append(v.Robusts, v.grid.robust(all, settings, m)...)
	}
}

// metrics are those that the view is about, each once.
func (v *View) metrics() []results.Metric {
	all := []results.Metric{v.Metric}
	for _, m := range v.Front {
		if !slices.ContainsFunc(all, func(other results.Metric) bool { return other.Name == m.Name }) {
			all = append(all, m)
		}
	}
	return all
}

// warn fills in the warnings.
func (v *View) warn() {
	g := v.grid
	if n, want := g.measured(), g.expected(); n < want {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%d of %d points are not measured; means are over the seeds that are.", want-n, want))
	}
	if len(g.seeds) < 2 {
		v.Warnings = append(v.Warnings, "With one seed there are no intervals, and no telling what is chance.")
	}
	v.warnLow()
	unfinished, all := 0, 0
	for _, c := range g.order {
		for _, f := range c.figures {
			all++
			if share, ok := f["completed"]; ok && share < 1 {
				unfinished++
			}
		}
	}
	if unfinished > 0 {
		v.Warnings = append(v.Warnings, fmt.Sprintf("In %d of %d points not all flows completed; FCTs are of those that did.", unfinished, all))
	}
	for _, m := range v.metrics() {
		if !g.has(m.Name) {
			v.Warnings = append(v.Warnings, "No point has the metric "+m.Name+".")
		}
	}
}
