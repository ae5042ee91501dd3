package compare

import (
	"reflect"
	"slices"

	"aqmlab/results"
	"aqmlab/results/coexist"
)

// Share adds the rows of how parties share the network, from judgements of the points
// that were compared.
func (c *Comparison) Share(points []results.Point, judged []*coexist.Judgement) {
	at := make(map[results.Coord]*coexist.Judgement)
	for i, p := range points {
		if judged[i] != nil {
			at[p.Coord] = judged[i]
		}
	}
	for _, load := range c.Loads {
		for _, scheme := range c.Schemes {
			total, ok := c.Total(scheme, load)
			if !ok {
				continue
			}
			var pairs []judgedPair
			for _, seed := range total.Seeds {
				own := at[results.Coord{Scheme: scheme, Load: load, Seed: seed}]
				if base := at[results.Coord{Scheme: c.Baseline, Load: load, Seed: seed}]; own != nil && base != nil {
					pairs = append(pairs, judgedPair{base, own})
				}
			}
			if pairs = unlikeFirst(pairs); len(pairs) == 0 {
				continue
			}
			c.Judged = append(c.Judged, Judged{Scheme: scheme, Load: load, First: *pairs[0].own})
			for _, row := range coexistenceRows(pairs, scheme == c.Baseline) {
				row.Scheme, row.Load = scheme, load
				c.Coexistence = append(c.Coexistence, row)
			}
		}
	}
}

// judgedPair is one trace as the baseline and another scheme replayed it.
type judgedPair struct{ base, own *coexist.Judgement }

// unlikeFirst leaves out all but the first pair where all are the same: seeds that change
// nothing are one, and tell nothing of chance.
func unlikeFirst(pairs []judgedPair) []judgedPair {
	for _, p := range pairs {
		if !reflect.DeepEqual(p, pairs[0]) {
			return pairs
		}
	}
	return pairs[:min(len(pairs), 1)]
}

// coexistenceRows compares all measures that a scheme has at some seed.
func coexistenceRows(pairs []judgedPair, same bool) (rows []CoexistenceRow) {
	for _, m := range coexist.Measures() {
		var of []string
		for _, p := range pairs {
			for _, v := range p.own.Values {
				if v.Measure == m.Name && !slices.Contains(of, v.Of) {
					of = append(of, v.Of)
				}
			}
		}
		for _, name := range of {
			rows = append(rows, coexistenceRow(pairs, m, name, same))
		}
	}
	return rows
}

// coexistenceRow compares a measure over the seeds that both have it for. Where the
// baseline never has it, there is the scheme's own value.
func coexistenceRow(pairs []judgedPair, m coexist.Measure, of string, same bool) CoexistenceRow {
	var own, both, differences []float64
	for _, p := range pairs {
		value, ok := p.own.Of(m.Name, of)
		if !ok {
			continue
		}
		own = append(own, value)
		if base, ok := p.base.Of(m.Name, of); ok {
			both, differences = append(both, value), append(differences, value-base)
		}
	}
	if len(both) > 0 {
		own = both
	}
	e := results.EstimateOf(own)
	r := CoexistenceRow{Measure: m.Name, Of: of, Unit: m.Unit, Better: m.Better, Count: e.Count, Value: e.Mean, CI95: bounds(e)}
	if same || len(differences) == 0 {
		return r
	}
	d := results.EstimateOf(differences)
	r.Difference, r.DifferenceCI95 = &d.Mean, bounds(d)
	if ci := r.DifferenceCI95; ci != nil && m.Better != "" {
		r.Verdict = NoDifference
		switch {
		case ci[1] < 0:
			r.Verdict = map[string]Verdict{results.Lower: Better, results.Higher: Worse}[m.Better]
		case ci[0] > 0:
			r.Verdict = map[string]Verdict{results.Lower: Worse, results.Higher: Better}[m.Better]
		}
	}
	return r
}

// bounds are those of an interval, or nil where one repetition cannot tell.
func bounds(e results.Estimate) *[2]float64 {
	if low, high, ok := e.Interval(); ok {
		return &[2]float64{low, high}
	}
	return nil
}
