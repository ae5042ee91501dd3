package report

import (
	"fmt"
	"slices"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report/figure"
)

// What stands beside the FCTs where the runs have it: queries, probes, and the
// goodput of services, in text and in the report.

// losses prints where packets were lost and what it took to repair that.
func (t table) losses(load float64) {
	rows := lossRows(t.totals(load))
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(t, "%s  %8s  %8s  %8s  %8s  %s\n", pad("lost", t.scheme), "no room", "by AQM", "on links", "resent", "flows with a timeout")
	for _, r := range rows {
		fmt.Fprintf(t, "%s  %8s  %8s  %8s  %8s  %s\n", pad(shorten(r.Scheme, t.scheme), t.scheme), r.NoRoom, r.ByAQM, r.OnLinks, r.Resent, r.TimedOut)
	}
}

// lossLine is one scheme's losses, as text.
type lossLine struct{ Scheme, NoRoom, ByAQM, OnLinks, Resent, TimedOut string }

// lossRows has none where packets were dropped for want of room at most, which
// the table of FCTs tells already.
func lossRows(totals []compare.Total) []lossLine {
	if !slices.ContainsFunc(totals, func(total compare.Total) bool { return total.Counts.DropsScheme+total.Counts.LinkLosses > 0 }) {
		return nil
	}
	var rows []lossLine
	for _, total := range totals {
		n, slow := total.Counts, "-"
		if total.TimedOut != results.Unknown {
			slow = formatCount(int64(total.TimedOut))
		}
		rows = append(rows, lossLine{
			total.Scheme, formatCount(n.DropsFull), formatCount(n.DropsScheme), formatCount(n.LinkLosses), formatCount(n.Retransmits), slow,
		})
	}
	return rows
}

// pauses prints what flow control did, where there is any.
func (t table) pauses(load float64) {
	rows := pauseRows(t.totals(load))
	if len(rows) == 0 {
		return
	}
	width := max(t.scheme, len("flow control"))
	fmt.Fprintf(t, "%s  %8s  %s\n", pad("flow control", width), "stops", "links stopped, in all")
	for _, r := range rows {
		fmt.Fprintf(t, "%s  %8s  %s\n", pad(shorten(r.Scheme, t.scheme), width), r.Stops, r.Stopped)
	}
}

// pauseLine is what flow control did under one scheme, as text.
type pauseLine struct{ Scheme, Stops, Stopped string }

// pauseRows has none where no link was stopped.
func pauseRows(totals []compare.Total) []pauseLine {
	if !slices.ContainsFunc(totals, func(total compare.Total) bool { return total.Counts.Pauses > 0 }) {
		return nil
	}
	var rows []pauseLine
	for _, total := range totals {
		rows = append(rows, pauseLine{total.Scheme, formatCount(total.Counts.Pauses), formatMicros(results.Microseconds(total.Counts.Paused))})
	}
	return rows
}

// queries prints the completion times of queries, as row does those of flows.
func (t table) queries(load float64) {
	totals := t.totals(load)
	if !slices.ContainsFunc(totals, func(total compare.Total) bool { return total.Queries > 0 }) {
		return
	}
	fmt.Fprintf(t, "%s  %8s  %8s  %s\n", pad("queries", t.scheme), "QCT avg", "QCT p99", "completed")
	for _, total := range totals {
		t.WriteString(pad(shorten(total.Scheme, t.scheme), t.scheme))
		for _, s := range compare.QueryStatistics() {
			t.WriteString("  " + t.cell(total, s))
		}
		fmt.Fprintf(t, "  %d of %d\n", total.QueriesCompleted, total.Queries)
	}
}

// probes prints what each probe measured.
func (t table) probes(load float64) {
	for _, name := range t.c.ProbeNames(load) {
		fmt.Fprintf(t, "%s  %8s  %8s  %8s  %s\n", pad("probe", t.scheme), "RTT avg", "RTT p50", "RTT p99", "lost ("+shorten(name, 40)+")")
		for _, r := range probeRowsOf(t.c, load, name) {
			fmt.Fprintf(t, "%s  %8s  %8s  %8s  %d of %d\n", pad(shorten(r.Scheme, t.scheme), t.scheme), r.Mean, r.P50, r.P99, r.Lost, r.Sent)
		}
	}
}

// totals are those of all schemes at a load.
func (t table) totals(load float64) []compare.Total { return t.c.TotalsAt(load) }

// probeTable is what one probe measured under every scheme.
type probeTable struct {
	Name    string
	Rows    []probeLine
	Figures []figure.Figure // one, or none when nothing was answered
}

// probeLine is one scheme's line of it. Times are text, "-" where there are
// none.
type probeLine struct {
	Scheme         string
	Sent, Lost     int
	Mean, P50, P99 string
}

func probeTables(c compare.Comparison, load float64) []probeTable {
	var tables []probeTable
	for _, name := range c.ProbeNames(load) {
		tables = append(tables, probeTable{Name: name, Rows: probeRowsOf(c, load, name)})
	}
	return tables
}

func probeRowsOf(c compare.Comparison, load float64, probe string) []probeLine {
	var lines []probeLine
	for _, scheme := range c.Schemes {
		total, _ := c.Total(scheme, load)
		p, ok := total.Probe(probe)
		if !ok {
			continue
		}
		line := probeLine{Scheme: scheme, Sent: p.Sent, Lost: p.Lost, Mean: "-", P50: "-", P99: "-"}
		if p.RTT.Count > 0 {
			line.Mean, line.P50, line.P99 = formatMicros(p.RTT.Mean), formatMicros(p.RTT.P50), formatMicros(p.RTT.P99)
		}
		lines = append(lines, line)
	}
	return lines
}

// serviceTable is the goodput of each service under every scheme, as text.
type serviceTable struct {
	Services []int32
	Rows     []serviceRow
}

type serviceRow struct {
	Scheme string
	Cells  []string // "-" for a service without flows
}

// serviceTableOf has no rows where there is but one service.
func serviceTableOf(rows []tableRow) serviceTable {
	var t serviceTable
	for _, r := range rows {
		for _, s := range r.Services {
			if !slices.Contains(t.Services, s.Service) {
				t.Services = append(t.Services, s.Service)
			}
		}
	}
	if len(t.Services) < 2 {
		return t
	}
	slices.Sort(t.Services)
	for _, r := range rows {
		line := serviceRow{Scheme: r.Scheme}
		for _, service := range t.Services {
			cell := "-"
			if i := slices.IndexFunc(r.Services, func(s results.ServiceGoodput) bool { return s.Service == service }); i >= 0 {
				cell = fmt.Sprintf("%.3f", r.Services[i].Goodput)
			}
			line.Cells = append(line.Cells, cell)
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}
