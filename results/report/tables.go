package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report/layout"
)

// sideTables are those about one load that have something to say.
func sideTables(c compare.Comparison, load float64) []layout.Table {
	totals := c.TotalsAt(load)
	all := []layout.Table{programTable(c, load), lossTable(totals), pauseTable(totals), serviceTable(totals)}
	for _, name := range c.ProbeNames(load) {
		all = append(all, probeTable(totals, name))
	}
	return slices.DeleteFunc(all, func(t layout.Table) bool { return len(t.Rows) == 0 })
}

// lossTable has no rows where packets were dropped for want of room at most, which
// the table of FCTs tells already.
func lossTable(totals []compare.Total) layout.Table {
	t := layout.Table{Name: "losses", Title: "Lost packets", Head: []string{
		"scheme", "dropped for want of room", "dropped by the AQM", "lost on links", "sent again", "flows with a timeout",
	}}
	if !slices.ContainsFunc(totals, func(total compare.Total) bool { return total.Counts.DropsScheme+total.Counts.LinkLosses > 0 }) {
		return t
	}
	for _, total := range totals {
		n, slow := total.Counts, "-"
		if total.TimedOut != results.Unknown {
			slow = layout.Count(int64(total.TimedOut))
		}
		t.Rows = append(t.Rows, []string{
			total.Scheme, layout.Count(n.DropsFull), layout.Count(n.DropsScheme), layout.Count(n.LinkLosses), layout.Count(n.Retransmits), slow,
		})
	}
	return t
}

// pauseTable has no rows where no link was stopped.
func pauseTable(totals []compare.Total) layout.Table {
	t := layout.Table{Name: "pauses", Title: "Flow control", Head: []string{"scheme", "stops", "links stopped, in all"}}
	if !slices.ContainsFunc(totals, func(total compare.Total) bool { return total.Counts.Pauses > 0 }) {
		return t
	}
	for _, total := range totals {
		t.Rows = append(t.Rows, []string{total.Scheme, layout.Count(total.Counts.Pauses), layout.Micros(results.Microseconds(total.Counts.Paused))})
	}
	return t
}

// serviceTable has no rows where there is but one service.
func serviceTable(totals []compare.Total) layout.Table {
	t := layout.Table{Name: "services", Title: "Goodput by service, Gbps", Wide: true, Head: []string{"scheme"}}
	var services []int32
	for _, total := range totals {
		for _, s := range total.Services {
			services = append(services, s.Service)
		}
	}
	slices.Sort(services)
	if services = slices.Compact(services); len(services) < 2 {
		return t
	}
	for _, service := range services {
		t.Head = append(t.Head, fmt.Sprintf("service %d", service))
	}
	for _, total := range totals {
		row := []string{total.Scheme}
		for _, service := range services {
			cell := "-" // no flows
			if i := slices.IndexFunc(total.Services, func(s results.ServiceGoodput) bool { return s.Service == service }); i >= 0 {
				cell = fmt.Sprintf("%.3f", total.Services[i].Goodput)
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// probeTable is what a probe measured under every scheme that had it.
func probeTable(totals []compare.Total, probe string) layout.Table {
	t := layout.Table{Name: "probe", Title: "Round-trip times of probe " + probe, Head: []string{"scheme", "sent", "lost", "average", "p50", "p99"}}
	for _, total := range totals {
		p, ok := total.Probe(probe)
		if !ok {
			continue
		}
		row := []string{total.Scheme, strconv.Itoa(p.Sent), strconv.Itoa(p.Lost), "-", "-", "-"}
		if p.RTT.Count > 0 {
			row = append(row[:3], layout.Micros(p.RTT.Mean), layout.Micros(p.RTT.P50), layout.Micros(p.RTT.P99))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// formatVerdict prints a verdict in one character.
func formatVerdict(v compare.Verdict) string {
	return map[compare.Verdict]string{compare.Better: "+", compare.Worse: "-", compare.NoDifference: "~"}[v]
}

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

// programCell is what a scheme has of a row of the baseline's.
func programCell(c compare.Comparison, base compare.ProgramRow, scheme string) string {
	i := slices.IndexFunc(c.Programs, func(r compare.ProgramRow) bool {
		return r.Load == base.Load && r.Scheme == scheme && r.Program == base.Program && r.Figure == base.Figure && r.Statistic == base.Statistic
	})
	if i < 0 {
		return "-"
	}
	r := c.Programs[i]
	switch {
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
