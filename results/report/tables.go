package report

import (
	"fmt"
	"slices"
	"strconv"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report/layout"
)

// sideTables are those about one load that have something to say.
func sideTables(c compare.Comparison, load float64) []layout.Table {
	totals := c.TotalsAt(load)
	all := []layout.Table{programTable(c, load), lossTable(totals), pauseTable(totals), serviceTable(totals), headedScheme(shareTable(c, load)), partyTable(c, load), delayTable(c, load)}
	for _, name := range c.ProbeNames(load) {
		all = append(all, probeTable(totals, name))
	}
	return slices.DeleteFunc(all, func(t layout.Table) bool { return len(t.Rows) == 0 })
}

// headedScheme is a table whose first column is named by what is in it.
func headedScheme(t layout.Table) layout.Table {
	t.Head[0] = "scheme"
	return t
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
