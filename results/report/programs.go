package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report/figure"
	"aqmlab/results/report/layout"
)

// programTable has a row for each figure of the lab's programs, and a column for each
// scheme: the baseline's value, and what others' are relative to it.
func programTable(c compare.Comparison, load float64) layout.Table {
	t := layout.Table{Name: "programs", Title: "Programs", Wide: true, Head: []string{"program", "figure", "n"}}
	t.Head = append(t.Head, c.Schemes...)
	for _, r := range c.Programs {
		if r.Load != load || r.Scheme != c.Baseline {
			continue
		}
		row := []string{r.Program, figureName(r), strconv.Itoa(r.Count)}
		for _, s := range c.Schemes {
			row = append(row, programCell(c, r, s))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// figureName is "rtt p99", or "goodput" of what has one statistic alone.
func figureName(r compare.ProgramRow) string {
	if r.Statistic == compare.P99 {
		return r.Figure + " p99"
	}
	return r.Figure
}

// programRow is what a scheme has of a row of the baseline's.
func programRow(c compare.Comparison, base compare.ProgramRow, scheme string) (r compare.ProgramRow, ok bool) {
	i := slices.IndexFunc(c.Programs, func(r compare.ProgramRow) bool {
		return r.Load == base.Load && r.Scheme == scheme && r.Program == base.Program && r.Figure == base.Figure && r.Statistic == base.Statistic
	})
	if i < 0 {
		return r, false
	}
	return c.Programs[i], true
}

func programCell(c compare.Comparison, base compare.ProgramRow, scheme string) string {
	r, ok := programRow(c, base, scheme)
	switch {
	case !ok:
		return "-"
	case scheme == c.Baseline || r.Normalized == nil:
		return figureText(r.Value, r.Unit)
	case r.CI95 == nil:
		return layout.Ratio(*r.Normalized) + " ?"
	}
	return layout.Ratio(*r.Normalized) + " " + formatVerdict(r.Verdict)
}

// figureText is a value with its unit, in the units of the other tables where these
// have some.
func figureText(value float64, unit string) string {
	switch unit {
	case "us":
		return layout.Micros(value)
	case "ms":
		return layout.Micros(value * 1e3)
	case "s":
		return layout.Micros(value * 1e6)
	case "bit/s":
		return fmt.Sprintf("%.3f Gbps", value/1e9)
	}
	text := strconv.FormatFloat(value, 'g', 4, 64)
	if math.Abs(value) >= 1000 {
		text = strconv.FormatFloat(value, 'f', 0, 64)
	}
	return strings.TrimSpace(text + " " + unit)
}

// programDots are a figure for each of the programs' figures: the normalised value for
// every scheme, with its 95 % interval where there is one. How long a program ran is
// drawn where it measured nothing itself.
func programDots(c compare.Comparison, load float64) (all []figure.Figure) {
	for _, base := range c.Programs {
		if base.Load != load || base.Scheme != c.Baseline || base.Figure == results.Duration && measures(c, base.Program) {
			continue
		}
		f := figure.Figure{
			Name: stem("program", base.Program, base.Figure, string(base.Statistic), loadName(load)), Title: base.Program + ": " + figureName(base),
			About: "Normalised " + figureName(base) + " of the program " + base.Program + " with 95 % intervals",
			X:     figure.Axis{Title: figureName(base) + " / that of " + c.Baseline, Low: 1, High: 1},
			Rule:  1,
		}
		for _, scheme := range c.Schemes {
			if r, ok := programRow(c, base, scheme); ok && r.Normalized != nil {
				value, p := programPoint(r)
				addDot(&f, c, scheme, value, p)
			}
		}
		if len(f.Series) > 1 {
			all = append(all, f)
		}
	}
	return all
}

// measures tells whether a program has figures of its own.
func measures(c compare.Comparison, program string) bool {
	return slices.ContainsFunc(c.Programs, func(r compare.ProgramRow) bool { return r.Program == program && r.Figure != results.Duration })
}

// programPoint is pointOf of a program's figure.
func programPoint(r compare.ProgramRow) (value float64, p figure.Point) {
	value = *r.Normalized
	p.Low, p.High = value, value
	p.Note = fmt.Sprintf("%s: %s, %s", r.Scheme, figureText(r.Value, r.Unit), layout.Ratio(value))
	if r.CI95 != nil {
		p.Low, p.High = 1+r.CI95[0]/100, 1+r.CI95[1]/100
		p.Note += fmt.Sprintf(" (%.3f to %.3f), %s", p.Low, p.High, r.Verdict)
	}
	return value, p
}
