// Package tune searches the parameters of a scheme for a lab: it spends a number of
// points, and tests what it found on seeds that the search never saw.
package tune

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"aqmlab/results"
)

// The search is successive halving (Jamieson and Talwalkar, 2016): many settings are
// tried with one seed, the better half with two, the better half of these with four. It
// halves over seeds and not over flows, since a percentile of fewer flows is another
// quantity: its best setting need not be that of the whole workload. Settings are drawn
// from a sequence that fills the space evenly, and not by a model of it, as a few dozen
// noisy points teach none.
func rungs() []int { return []int{1, 2, 4} }

// testSeeds is how many seeds the winner is tested with.
const testSeeds = 5

// Setting is values for the searched parameters, "key=value"; none: those of the lab.
type Setting []string

// Ask is a measurement: a setting of the scheme, or the baseline.
type Ask struct {
	Setting  Setting
	Baseline bool // of the lab, in place of the scheme
	Load     float64
	Seed     uint64
}

// Measure measures all that is asked for, and returns the metrics in the same order; nil
// for a setting with which the lab does not hold together.
type Measure func(ctx context.Context, asks []Ask) ([]map[string]float64, error)

// Search is what is searched, and what for.
type Search struct {
	Space       []Param      `json:"space"`
	Objective   Objective    `json:"objective"`
	Constraints []Constraint `json:"constraints"`
	Budget      int          `json:"budget"` // points
	Loads       []float64    `json:"loads"`
	FirstSeed   uint64       `json:"first_seed"` // of those that the search and then the test use
	Measure     Measure      `json:"-"`
	Note        func(string) `json:"-"` // is told how it goes on
}

// Trial is a setting that was tried.
type Trial struct {
	Setting   Setting   `json:"setting"`
	Seeds     int       `json:"seeds"`             // that it was tried with
	Objective float64   `json:"objective"`         // over that of the scheme as the lab has it: the geometric mean over loads and seeds
	Excess    []float64 `json:"excess"`            // beyond each constraint, as a logarithm; at most zero where it holds
	Invalid   bool      `json:"invalid,omitempty"` // the lab does not hold together with it: it has no objective
	points    []point
}

// point is one measurement beside those of the scheme as it is and of the baseline.
type point struct{ mine, asIs, base map[string]float64 }

// Outcome is what a search found.
type Outcome struct {
	Search
	Spent    int       `json:"spent"` // points
	Trials   []Trial   `json:"trials"`
	Winner   Setting   `json:"winner"` // none: the scheme as it is
	Ratio    float64   `json:"ratio"`  // of the objective, winner over the scheme as it is, on seeds that the search never saw
	CI95     []float64 `json:"ci95"`   // of it, by Student's t over seeds
	Excess   []float64 `json:"excess"` // of the winner there
	Improves bool      `json:"improves"`
}

// references is how many points a load and seed needs beside those of settings.
func (s *Search) references() int {
	if slices.ContainsFunc(s.Constraints, func(c Constraint) bool { return c.Relative }) {
		return 2
	}
	return 1
}

// candidates is how many settings the budget allows.
func (s *Search) candidates() (int, error) {
	r, seeds := s.references(), slices.Max(rungs())
	for n := s.Budget; n > 1; n-- {
		if s.cost(n) <= s.Budget {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%w: a budget of %d points is too small: %d loads, %d seeds of search and %d of test with %d references each take at least %d",
		ErrAsked, s.Budget, len(s.Loads), seeds, testSeeds, r, s.cost(2))
}

// cost is how many points n settings take.
func (s *Search) cost(n int) int {
	perLoad, before, left := 0, 0, n
	for _, seeds := range rungs() {
		perLoad += left * (seeds - before)
		before, left = seeds, (left+1)/2
	}
	perLoad += before*s.references() + testSeeds*(1+s.references())
	return perLoad * len(s.Loads)
}

// Run searches, and tests the winner.
func (s *Search) Run(ctx context.Context) (*Outcome, error) {
	n, err := s.candidates()
	if err != nil {
		return nil, err
	}
	o := &Outcome{Search: *s}
	asIs := &Trial{}
	field := []*Trial{asIs} // which always stays, as what it needs is measured anyway
	for i := range n {
		field = append(field, &Trial{Setting: candidate(s.Space, i+1)})
	}
	all := slices.Clone(field)
	before := uint64(0)
	for i, seeds := range rungs() {
		s.Note(fmt.Sprintf("rung %d of %d: %d settings with %d seeds", i+1, len(rungs()), len(field)-1, seeds))
		if err := o.extend(ctx, field, s.FirstSeed+before, s.FirstSeed+uint64(seeds)); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(field, func(t *Trial) bool { return t.Setting != nil && !t.Invalid }) {
			return nil, fmt.Errorf("%w: the lab does not hold together with any of %d settings", ErrAsked, n)
		}
		before = uint64(seeds)
		rank(field)
		if i < len(rungs())-1 {
			field = half(field, asIs)
		}
	}
	for _, t := range all {
		o.Trials = append(o.Trials, *t)
	}
	o.Winner = field[0].Setting
	return o, o.test(ctx, s.FirstSeed+before)
}

// half keeps the better half, and the scheme as it is.
func half(field []*Trial, asIs *Trial) []*Trial {
	settings := slices.DeleteFunc(slices.Clone(field), func(t *Trial) bool { return t == asIs })
	return append(settings[:(len(settings)+1)/2], asIs)
}

// extend measures trials with more seeds.
func (o *Outcome) extend(ctx context.Context, field []*Trial, from, to uint64) error {
	var asks []Ask
	for seed := from; seed < to; seed++ {
		for _, load := range o.Loads {
			asks = append(asks, Ask{Load: load, Seed: seed})
			if o.references() > 1 {
				asks = append(asks, Ask{Load: load, Seed: seed, Baseline: true})
			}
			for _, t := range field {
				if t.Setting != nil && !t.Invalid {
					asks = append(asks, Ask{Setting: t.Setting, Load: load, Seed: seed})
				}
			}
		}
	}
	found, err := o.Measure(ctx, asks)
	if err != nil {
		return err
	}
	var asIs, base map[string]float64
	byTrial := func(set Setting) *Trial {
		return field[slices.IndexFunc(field, func(t *Trial) bool { return slices.Equal(t.Setting, set) })]
	}
	for i, a := range asks {
		if found[i] != nil {
			o.Spent++
		}
		if name := o.lacks(found[i]); name != "" {
			if a.Setting == nil {
				return fmt.Errorf("%w: points have no %s, but %s", ErrAsked, name, strings.Join(slices.Sorted(maps.Keys(found[i])), ", "))
			}
			found[i] = nil
		}
		switch t := (*Trial)(nil); {
		case a.Baseline:
			base = found[i]
			// The scheme as it is was measured just before.
			t = byTrial(nil)
			t.points[len(t.points)-1].base = base
		case a.Setting == nil:
			asIs, base = found[i], nil
			t = byTrial(nil)
			t.points = append(t.points, point{asIs, asIs, nil})
		default:
			t = byTrial(a.Setting)
			t.points = append(t.points, point{found[i], asIs, base})
		}
	}
	for _, t := range field {
		t.Seeds = int(to - o.FirstSeed)
		if t.Invalid = slices.ContainsFunc(t.points, func(p point) bool { return p.mine == nil }); !t.Invalid {
			t.Objective, t.Excess = o.judge(t.points)
		}
	}
	return nil
}

// lacks is the metric that was asked for and that a point does not have, such as for want
// of flows, if any.
func (o *Outcome) lacks(figures map[string]float64) string {
	wanted := []string{o.Objective.Metric}
	for _, c := range o.Constraints {
		wanted = append(wanted, c.Metric)
	}
	for _, name := range wanted {
		if _, ok := figures[name]; !ok && figures != nil {
			return name
		}
	}
	return ""
}

// judge is the objective over that of the scheme as it is, and the excess over each
// constraint, as means of logarithms over points.
func (o *Outcome) judge(points []point) (ratio float64, excess []float64) {
	sum, excess := 0.0, make([]float64, len(o.Constraints))
	for _, p := range points {
		sum += logRatio(p.mine[o.Objective.Metric], p.asIs[o.Objective.Metric])
		for i, c := range o.Constraints {
			excess[i] += c.excess(p.mine[c.Metric], p.base[c.Metric]) / float64(len(points))
		}
	}
	return math.Exp(sum / float64(len(points))), excess
}

// logRatio is that of two values; of two zeros it is zero.
func logRatio(a, b float64) float64 {
	if a == b {
		return 0
	}
	return math.Log(a / b)
}

// penalty is how much more a constraint's excess counts than the objective: a setting
// that breaks one is worse than any that holds, unless noise alone may have broken it.
const penalty = 10

// score is what trials are ranked by.
func (t *Trial) score() float64 {
	if t.Invalid {
		return math.Inf(1)
	}
	score := math.Log(t.Objective)
	for _, e := range t.Excess {
		score += penalty * max(0, e)
	}
	return score
}

// Compare is negative for a trial that was tried with more seeds, or with as many and
// better results.
func (t Trial) Compare(o Trial) int {
	return cmp.Or(cmp.Compare(o.Seeds, t.Seeds), cmp.Compare(t.score(), o.score()))
}

func rank(field []*Trial) {
	slices.SortStableFunc(field, func(a, b *Trial) int { return cmp.Compare(a.score(), b.score()) })
}

// test measures the winner on seeds from one that the search never saw.
func (o *Outcome) test(ctx context.Context, from uint64) error {
	if o.Winner == nil {
		o.Ratio, o.CI95 = 1, []float64{1, 1}
		o.Note("no setting was better than the scheme as it is")
		return nil
	}
	o.Note(fmt.Sprintf("test: the winner with %d other seeds", testSeeds))
	var seeds []float64 // mean of the logarithms of a seed's ratios
	var points []point
	for seed := from; seed < from+testSeeds; seed++ {
		asIs, winner := &Trial{}, &Trial{Setting: o.Winner}
		if err := o.extend(ctx, []*Trial{asIs, winner}, seed, seed+1); err != nil {
			return err
		}
		ratio, _ := o.judge(winner.points)
		seeds = append(seeds, math.Log(ratio))
		points = append(points, winner.points...)
	}
	o.Ratio, o.Excess = o.judge(points)
	low, high, _ := results.EstimateOf(seeds).Interval()
	o.CI95 = []float64{math.Exp(low), math.Exp(high)}
	o.Improves = o.CI95[1] < 1 && !slices.ContainsFunc(o.Excess, func(e float64) bool { return e > 0 })
	return nil
}
