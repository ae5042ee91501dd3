package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report/layout"
)

// tableWidth is the widest line that Table prints, in characters.
const tableWidth = 100

// TextOptions are the choices of a table.
type TextOptions struct {
	// Color sets off, by terminal escape codes, the cells that show a
	// difference. It is meant for terminals and never carries meaning alone.
	Color bool
	// Notes are lines of text that follow.
	Notes []string
}

// column is one column of normalised FCTs.
type column struct {
	compare.Statistic
	over, under string // the two lines of its heading
}

func columns() []column {
	return []column{
		{compare.Statistic{Class: results.All, Metric: compare.Mean}, "all", "avg"},
		{compare.Statistic{Class: results.Small, Metric: compare.Mean}, "small", "avg"},
		{compare.Statistic{Class: results.Small, Metric: compare.P99}, "small", "p99"},
		{compare.Statistic{Class: results.Large, Metric: compare.Mean}, "large", "avg"},
	}
}

// Table prints the comparison for people: for every load a table of FCTs (the
// baseline's in absolute terms, the others' relative to it) with a sentence on
// every scheme, then what the runs differ in, then the warnings.
func Text(w io.Writer, c compare.Comparison, o TextOptions) error {
	var b bytes.Buffer
	t := table{&b, c, o, min(max(len("scheme"), longest(c.Schemes)), 20)}
	for _, load := range c.Loads {
		t.load(load)
	}
	if len(c.Schemes) > 1 {
		t.say("", "FCT in lab time. x0.50: half of "+c.Baseline+"'s on the same flows; + better, - worse, ~ no difference by the 95 % interval.")
	}
	for i, name := range c.Runs {
		if at := "@" + strconv.Itoa(i+1); slices.ContainsFunc(c.Schemes, func(s string) bool { return strings.HasSuffix(s, at) }) {
			t.say("", at+": run "+name)
		}
	}
	for _, d := range c.Differences {
		t.say("", "runs differ in "+d.String())
	}
	for _, warning := range c.Warnings {
		t.say("", "warning: "+warning)
	}
	for _, note := range o.Notes {
		t.say("", note)
	}
	_, err := w.Write(b.Bytes())
	return err
}

type table struct {
	*bytes.Buffer
	c      compare.Comparison
	o      TextOptions
	scheme int // width of the first column
}

func longest(names []string) (n int) {
	for _, s := range names {
		n = max(n, len(s))
	}
	return n
}

// load prints one load's table and sentences, and an empty line.
func (t table) load(load float64) {
	t.say("", t.heading(load))
	t.headers()
	for _, total := range t.c.TotalsAt(load) {
		t.row(total)
	}
	t.sides(load)
	for _, f := range t.c.Findings() {
		if f.Load == load {
			t.say("  ", f.Scheme+": "+f.Text)
		}
	}
	t.WriteByte('\n')
}

// sides prints what stands beside the FCTs.
func (t table) sides(load float64) {
	totals := t.c.TotalsAt(load)
	if programs := programTable(t.c, load); len(programs.Rows) > 0 {
		t.WriteString(programs.Text(tableWidth))
	}
	t.print(lossTable(totals).Headed("lost", "no room", "by AQM", "on links", "resent", "flows with a timeout"))
	t.print(pauseTable(totals).Headed("flow control", "stops", "links stopped, in all"))
	t.print(t.queries(totals))
	t.coexistence(load)
	for _, name := range t.c.ProbeNames(load) {
		probe := layout.Table{Head: []string{"probe", "RTT avg", "RTT p50", "RTT p99", "lost (" + layout.Shorten(name, 40) + ")"}}
		for _, r := range probeTable(totals, name).Rows {
			probe.Rows = append(probe.Rows, []string{r[0], r[3], r[4], r[5], r[2] + " of " + r[1]})
		}
		t.print(probe)
	}
}

// coexistence prints how parties share the network.
func (t table) coexistence(load float64) {
	shares := shareTable(t.c, load)
	if len(shares.Rows) == 0 {
		return
	}
	t.print(even(shares))
	t.print(even(partyShares(t.c, load)))
	t.say("  ", shareNote(t.c, load))
}

// queries are the completion times of queries, as row prints those of flows.
func (t table) queries(totals []compare.Total) layout.Table {
	side := layout.Table{Head: []string{"queries", "QCT avg", "QCT p99", "completed"}}
	if !slices.ContainsFunc(totals, func(total compare.Total) bool { return total.Queries > 0 }) {
		return side
	}
	for _, total := range totals {
		row := []string{total.Scheme}
		for _, s := range compare.QueryStatistics() {
			row = append(row, t.cell(total, s))
		}
		side.Rows = append(side.Rows, append(row, fmt.Sprintf("%d of %d", total.QueriesCompleted, total.Queries)))
	}
	return side
}

// print prints a table, unless it is empty, in columns below those of the schemes.
func (t table) print(side layout.Table) {
	if len(side.Rows) == 0 {
		return
	}
	width := max(t.scheme, len(side.Head[0]))
	for i, row := range append([][]string{side.Head}, side.Rows...) {
		if i > 0 {
			row[0] = layout.Shorten(row[0], t.scheme)
		}
		t.WriteString(layout.Pad(row[0], width))
		for _, cell := range row[1 : len(row)-1] {
			t.WriteString("  " + layout.Lead(cell, 8))
		}
		t.WriteString("  " + row[len(row)-1] + "\n")
	}
}

func (t table) heading(load float64) string {
	totals := t.c.TotalsAt(load)
	if len(totals) == 0 {
		return fmt.Sprintf("load %g", load)
	}
	word := "seeds"
	if len(totals[0].Seeds) == 1 {
		word = "seed"
	}
	if totals[0].Flows == 0 {
		return fmt.Sprintf("programs alone, %s %s", word, results.Join(totals[0].Seeds))
	}
	return fmt.Sprintf("load %g: %d flows a scheme, %s %s", load, totals[0].Flows, word, results.Join(totals[0].Seeds))
}

func (t table) headers() {
	over, under := layout.Pad("", t.scheme), layout.Pad("scheme", t.scheme)
	for _, c := range columns() {
		over += "  " + layout.Lead(c.over, 8)
		under += "  " + layout.Lead(c.under, 8)
	}
	fmt.Fprintf(t, "%s\n%s  %6s  %6s  %8s  %s\n", over, under, "marks", "drops", "timeouts", "fidelity")
}

func (t table) row(total compare.Total) {
	t.WriteString(layout.Pad(layout.Shorten(total.Scheme, t.scheme), t.scheme))
	for _, c := range columns() {
		t.WriteString("  " + t.cell(total, c.Statistic))
	}
	n := total.Counts
	fmt.Fprintf(t, "  %6s  %6s  %8s  %s\n", layout.Count(n.Marks), layout.Count(n.Drops), layout.Count(n.Timeouts), cmp.Or(total.Fidelity.Label, "-"))
}

// cell prints one FCT, 8 characters wide without its colour: cyan and yellow, which
// no common colour blindness confuses.
func (t table) cell(total compare.Total, s compare.Statistic) string {
	cell := cellOf(t.c, total, s)
	text := layout.Lead(cell.Text, 8)
	colour := map[string]string{string(compare.Better): "\x1b[36m", string(compare.Worse): "\x1b[33m"}[cell.Verdict]
	if !t.o.Color || colour == "" {
		return text
	}
	return colour + text + "\x1b[0m"
}

// say prints a line of text, broken so that it fits.
func (t table) say(indent, text string) {
	fmt.Fprintf(t, "%s%s\n", indent, layout.Wrap(text, tableWidth-len(indent), indent+"  "))
}
