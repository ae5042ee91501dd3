package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report/figure"
)

// Table is a table of text: a header, and rows with a cell for each of its columns.
// What stands beside the FCTs, where the runs have it, is one of them.
type Table struct {
	Name, Title string // class and heading in HTML
	Wide        bool   // it may be wider than the page
	Head        []string
	Rows        [][]string
	Figures     []figure.Figure // below it
}

// headed is the table with other words above its columns.
func (t Table) headed(head ...string) Table {
	t.Head = head
	return t
}

// sideTables are those about one load that have something to say.
func sideTables(c compare.Comparison, load float64) []Table {
	totals := c.TotalsAt(load)
	all := []Table{lossTable(totals), pauseTable(totals), serviceTable(totals)}
	for _, name := range c.ProbeNames(load) {
		all = append(all, probeTable(totals, name))
	}
	return slices.DeleteFunc(all, func(t Table) bool { return len(t.Rows) == 0 })
}

// lossTable has no rows where packets were dropped for want of room at most, which
// the table of FCTs tells already.
func lossTable(totals []compare.Total) Table {
	t := Table{Name: "losses", Title: "Lost packets", Head: []string{
		"scheme", "dropped for want of room", "dropped by the AQM", "lost on links", "sent again", "flows with a timeout",
	}}
	if !slices.ContainsFunc(totals, func(total compare.Total) bool { return total.Counts.DropsScheme+total.Counts.LinkLosses > 0 }) {
		return t
	}
	for _, total := range totals {
		n, slow := total.Counts, "-"
		if total.TimedOut != results.Unknown {
			slow = formatCount(int64(total.TimedOut))
		}
		t.Rows = append(t.Rows, []string{
			total.Scheme, formatCount(n.DropsFull), formatCount(n.DropsScheme), formatCount(n.LinkLosses), formatCount(n.Retransmits), slow,
		})
	}
	return t
}

// pauseTable has no rows where no link was stopped.
func pauseTable(totals []compare.Total) Table {
	t := Table{Name: "pauses", Title: "Flow control", Head: []string{"scheme", "stops", "links stopped, in all"}}
	if !slices.ContainsFunc(totals, func(total compare.Total) bool { return total.Counts.Pauses > 0 }) {
		return t
	}
	for _, total := range totals {
		t.Rows = append(t.Rows, []string{total.Scheme, formatCount(total.Counts.Pauses), formatMicros(results.Microseconds(total.Counts.Paused))})
	}
	return t
}

// serviceTable has no rows where there is but one service.
func serviceTable(totals []compare.Total) Table {
	t := Table{Name: "services", Title: "Goodput by service, Gbps", Wide: true, Head: []string{"scheme"}}
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
func probeTable(totals []compare.Total, probe string) Table {
	t := Table{Name: "probe", Title: "Round-trip times of probe " + probe, Head: []string{"scheme", "sent", "lost", "average", "p50", "p99"}}
	for _, total := range totals {
		p, ok := total.Probe(probe)
		if !ok {
			continue
		}
		row := []string{total.Scheme, strconv.Itoa(p.Sent), strconv.Itoa(p.Lost), "-", "-", "-"}
		if p.RTT.Count > 0 {
			row = append(row[:3], formatMicros(p.RTT.Mean), formatMicros(p.RTT.P50), formatMicros(p.RTT.P99))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// formatMicros prints a time of so many microseconds in at most 8 characters.
func formatMicros(us float64) string {
	switch {
	case us < 9_999.95:
		return fmt.Sprintf("%.1fus", us)
	case us < 9_999_950:
		return fmt.Sprintf("%.1fms", us/1e3)
	}
	return fmt.Sprintf("%.1fs", us/1e6)
}

// formatCount prints a count in at most 6 characters, with three significant
// digits from a million on.
func formatCount(n int64) string {
	switch {
	case n < 1e6:
		return strconv.FormatInt(n, 10)
	case n < 999_500_000:
		return fmt.Sprintf("%.3gM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.3gG", float64(n)/1e9)
}

// formatRatio prints a normalised value: two decimals where they matter.
func formatRatio(r float64) string {
	if r >= 99.995 {
		return fmt.Sprintf("x%.0f", r)
	}
	return fmt.Sprintf("x%.2f", r)
}

// formatVerdict prints a verdict in one character.
func formatVerdict(v compare.Verdict) string {
	return map[compare.Verdict]string{compare.Better: "+", compare.Worse: "-", compare.NoDifference: "~"}[v]
}

// shorten cuts a name to a width and shows that it did. The number of the run
// that a scheme is of stays: it is what tells it from its namesakes.
func shorten(s string, width int) string {
	if len(s) <= width {
		return s
	}
	run := ""
	if at := strings.LastIndexByte(s, '@'); at > 0 && len(s)-at < width/2 {
		run = s[at:]
	}
	return s[:width-2-len(run)] + ".." + run
}

// wrap breaks text between words into lines of at most width characters; all
// lines but the first begin with the indent.
func wrap(text string, width int, indent string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
