package compare

import (
	"cmp"
	"math"
	"slices"
	"time"

	"aqmlab/results"
)

// ProgramRow compares one figure of one program under a scheme with the baseline's, at
// one load. The baseline has rows too, with its own values.
type ProgramRow struct {
	Scheme    string  `json:"scheme"`
	Load      float64 `json:"load"`
	Program   string  `json:"program"`
	Figure    string  `json:"figure"` // [results.Duration], or what the program calls it
	Unit      string  `json:"unit"`
	Better    string  `json:"better"` // lower or higher
	Statistic Metric  `json:"statistic"`
	Count     int     `json:"n"` // measurements, of all seeds that both have
	// Value is the scheme's, and Normalized that over the baseline's; nil where that is zero.
	Value      float64     `json:"value"`
	Normalized *float64    `json:"normalized"`
	Difference *float64    `json:"difference_percent"` // Normalized - 1 in percent
	CI95       *[2]float64 `json:"ci95"`               // of Difference, in percent; nil where one seed cannot tell
	Verdict    Verdict     `json:"verdict"`
}

// figure is one figure of a program, as the points of some seeds have it.
type figure struct {
	results.ProgramFigure
	base, other [][]float64 // by seed
}

// comparePrograms compares the programs of two schemes. Figures of which a seed has ten
// or more under both, as many as under the other, are paired in their order, as flows
// are: requests of a client, say. Of others each seed has one value, and the interval is
// that of the seeds' differences, by Student's t.
func comparePrograms(common []replayed) []ProgramRow {
	to := common[0].other.Coord
	same := to.Scheme == common[0].base.Scheme
	var rows []ProgramRow
	for _, f := range figuresOf(common) {
		for _, row := range f.rows(same) {
			row.Scheme, row.Load, row.Program, row.Figure, row.Unit, row.Better = to.Scheme, to.Load, f.Program, f.Name, f.Unit, f.Better
			if row.Better == results.Higher {
				row.Verdict = map[Verdict]Verdict{Better: Worse, Worse: Better, NoDifference: NoDifference}[row.Verdict]
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// figuresOf gathers the figures of all programs, in the order of the lab and of what
// they wrote. What a scheme lacks at a seed is left out for both.
func figuresOf(common []replayed) []figure {
	var all []figure
	for _, r := range common {
		base, other := results.ProgramFiguresOf(r.base), results.ProgramFiguresOf(r.other)
		for _, b := range base {
			i := slices.IndexFunc(other, b.Same)
			if i < 0 {
				continue
			}
			at := slices.IndexFunc(all, func(f figure) bool { return f.Program == b.Program && f.Name == b.Name })
			if at < 0 {
				at = len(all)
				all = append(all, figure{ProgramFigure: b})
			}
			all[at].base = append(all[at].base, b.Values)
			all[at].other = append(all[at].other, other[i].Values)
		}
	}
	return all
}

// rows compares the figure's mean, and its p99 where there are enough for one.
func (f figure) rows(same bool) []ProgramRow {
	if f.paired() {
		return f.bootstrapped(same)
	}
	rows := []ProgramRow{f.bySeed(same)}
	rows[0].Statistic, rows[0].Count = Mean, len(slices.Concat(f.other...))
	return rows
}

// measurements are of one class, whatever they are.
const measurements results.Class = "measurements"

// paired tells whether every seed has enough measurements, as many under both.
func (f figure) paired() bool {
	for i := range f.base {
		if len(f.base[i]) != len(f.other[i]) || len(f.base[i]) < results.Several {
			return false
		}
	}
	return true
}

// bootstrapped compares measurement by measurement.
func (f figure) bootstrapped(same bool) []ProgramRow {
	// Pairs hold whole numbers: the largest value is a million million of them.
	const largest = 1e12
	most := 0.0
	for _, v := range slices.Concat(slices.Concat(f.base...), slices.Concat(f.other...)) {
		most = max(most, math.Abs(v))
	}
	scale := largest / cmp.Or(most, 1)
	var traces [][]pair
	for i := range f.base {
		trace := make([]pair, len(f.base[i]))
		for j := range trace {
			trace[j] = pair{class: measurements, both: true, took: [2]time.Duration{time.Duration(f.base[i][j] * scale), time.Duration(f.other[i][j] * scale)}}
		}
		traces = append(traces, trace)
	}
	var rows []ProgramRow
	for _, r := range rowsOf(traces, []Statistic{{measurements, Mean}, {measurements, P99}}, same) {
		ci := &r.CI95
		if same {
			ci = nil
		}
		rows = append(rows, ProgramRow{
			Statistic: r.Metric, Count: len(slices.Concat(f.other...)),
			Value: r.Value * 1e3 / scale, Normalized: &r.Normalized, Difference: &r.Difference, CI95: ci, Verdict: r.Verdict,
		})
	}
	return rows
}

// bySeed compares the means of the seeds.
func (f figure) bySeed(same bool) ProgramRow {
	var base, other, percent []float64
	for i := range f.base {
		b, o := results.EstimateOf(f.base[i]).Mean, results.EstimateOf(f.other[i]).Mean
		base, other = append(base, b), append(other, o)
		if b != 0 {
			percent = append(percent, (o/b-1)*100)
		}
	}
	r := ProgramRow{Value: results.EstimateOf(other).Mean, Verdict: NoDifference}
	if mean := results.EstimateOf(base).Mean; mean != 0 {
		ratio := r.Value / mean
		difference := (ratio - 1) * 100
		r.Normalized, r.Difference = &ratio, &difference
	}
	low, high, ok := results.EstimateOf(percent).Interval()
	if same || !ok || len(percent) < len(base) {
		return r
	}
	r.CI95 = &[2]float64{low, high}
	switch {
	case high < 0:
		r.Verdict = Better
	case low > 0:
		r.Verdict = Worse
	}
	return r
}
