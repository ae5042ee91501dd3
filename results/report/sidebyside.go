package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report/layout"
)

// eachColumns is how many columns of 10 characters fit beside the schemes.
const eachColumns = 8

// runAtLoad is a column: a run at one of its loads.
type runAtLoad struct {
	compare.RunComparison
	load  float64
	first bool // of the loads of the run
}

// EachText prints a table for each statistic, with a row a scheme and a column
// a run and load. In each column a star stands at the best.
func EachText(w io.Writer, all []compare.RunComparison) error {
	var spots []runAtLoad
	for _, r := range all {
		for i, load := range r.Loads {
			spots = append(spots, runAtLoad{r, load, i == 0})
		}
	}
	var b bytes.Buffer
	first := 1
	for group := range slices.Chunk(spots, eachColumns) {
		eachGroup(&b, group, first)
		first += len(group)
	}
	b.WriteString(layout.Wrap("FCT in lab time. x0.50: half of the baseline's on the same flows; + better, - worse, ~ no difference by the 95 % interval; * lowest of its column, which need not be better than the next.", tableWidth, "  ") + "\n")
	_, err := w.Write(b.Bytes())
	return err
}

// eachGroup prints the columns that fit beside each other, numbered from first.
func eachGroup(b *bytes.Buffer, spots []runAtLoad, first int) {
	var schemes []string
	for i, s := range spots {
		s.legend(b, first+i)
		schemes = append(schemes, s.Schemes...)
	}
	schemes = results.Distinct(schemes, func(name string) string { return name })
	b.WriteByte('\n')
	for _, c := range append(columns(), column{compare.Statistic{Class: results.Queries, Metric: compare.Mean}, "query", "avg"}) {
		rows, any := make([]string, len(schemes)), false
		for _, s := range spots {
			any = s.fill(rows, schemes, c.Statistic) || any
		}
		if !any {
			continue
		}
		width := min(max(len("query avg"), longest(schemes)), 20)
		b.WriteString(layout.Pad(c.over+" "+c.under, width))
		for i := range spots {
			fmt.Fprintf(b, "%10d", first+i)
		}
		for i, row := range rows {
			b.WriteString("\n" + layout.Pad(layout.Shorten(schemes[i], width), width) + row)
		}
		b.WriteString("\n\n")
	}
}

// legend says what a column is of, and what to look at before it is trusted.
func (s runAtLoad) legend(b *bytes.Buffer, number int) {
	fmt.Fprintf(b, "%2d  %s\n", number, layout.Wrap(fmt.Sprintf("%s, %s, against %s", s.Lab, table{c: s.Comparison}.heading(s.load), s.Baseline), tableWidth-4, "    "))
	if !s.first {
		return
	}
	for _, warning := range s.Warnings {
		fmt.Fprintf(b, "    %s\n", layout.Wrap("warning: "+warning, tableWidth-4, "      "))
	}
}

// fill adds the column of a spot to the rows of the schemes, and tells whether it
// holds anything.
func (s runAtLoad) fill(rows, schemes []string, st compare.Statistic) (any bool) {
	best := math.Inf(1)
	for _, name := range schemes {
		if r, ok := s.Row(name, s.load, st.Class, st.Metric); ok {
			best, any = min(best, r.Value), true
		}
	}
	t := table{c: s.Comparison}
	for i, name := range schemes {
		star := " "
		if r, ok := s.Row(name, s.load, st.Class, st.Metric); ok && r.Value == best {
			star = "*"
		}
		cell := strings.TrimLeft(t.cell(compare.Total{Scheme: name, Load: s.load}, st), " ")
		rows[i] += layout.Lead(star+cell, 10)
	}
	return any
}
