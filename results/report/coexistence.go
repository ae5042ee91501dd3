package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"aqmlab/results/coexist"
	"aqmlab/results/compare"
	"aqmlab/results/report/layout"
)

// mostShares is how many parties' shares stand side by side.
const mostShares = 6

// wholes are the measures of a whole point that tables show, and their headings.
func wholes() []struct{ measure, head string } {
	return []struct{ measure, head string }{
		{coexist.Jain, "Jain"}, {coexist.JainFlows, "Jain"}, {coexist.Utilisation, "used"}, {coexist.DelayMean, "wait avg"}, {coexist.DelayP99, "wait p99"},
		{coexist.Marks, "marked"}, {coexist.Losses, "lost"}, {coexist.Converged, "settled"},
	}
}

// shareTable has a row for each scheme: how its parties share the network. It has none
// where nobody judged.
func shareTable(c compare.Comparison, load float64) layout.Table {
	t := layout.Table{Name: "coexistence", Title: "Coexistence", Wide: true, Head: []string{"coexistence"}}
	var shown []string
	for _, w := range wholes() {
		if w.measure == coexist.JainFlows && slices.Contains(shown, coexist.Jain) {
			continue // of parties there are several, and a name for one index
		}
		if slices.ContainsFunc(c.Coexistence, func(r compare.CoexistenceRow) bool { return r.Load == load && r.Measure == w.measure && r.Of == "" }) {
			t.Head, shown = append(t.Head, w.head), append(shown, w.measure)
		}
	}
	for _, scheme := range c.Schemes {
		if _, ok := c.JudgedAt(scheme, load); !ok {
			continue
		}
		row := []string{scheme}
		for _, measure := range shown {
			row = append(row, wholeCell(c, scheme, load, measure))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// wholeCell is a value of a whole point. How many changes shares settled after stands
// beside how soon.
func wholeCell(c compare.Comparison, scheme string, load float64, measure string) string {
	if r, ok := c.CoexistenceRow(scheme, load, measure, ""); ok && measure == coexist.Converged {
		after, _ := strings.CutPrefix(coexistenceCell(c, scheme, load, coexist.Convergence, ""), "-")
		return strings.TrimSpace(fmt.Sprintf("%.0f%% %s", 100*r.Value, after))
	}
	return coexistenceCell(c, scheme, load, measure, "")
}

// even sets the cells of all columns but the first to the right, in as little room as they
// need.
func even(t layout.Table) layout.Table {
	rows := append([][]string{t.Head}, t.Rows...)
	for column := 1; column < len(t.Head); column++ {
		width := 8
		for _, row := range rows {
			width = max(width, utf8.RuneCountInString(row[column]))
		}
		for _, row := range rows {
			row[column] = layout.Lead(row[column], width)
		}
	}
	return t
}

// partiesAt are the parties of a load.
func partiesAt(c compare.Comparison, load float64) []string {
	for _, j := range c.Judged {
		if j.Load == load {
			return j.First.Parties
		}
	}
	return nil
}

// partyShares has a row for each scheme, with the share of each party, or the least and
// the most of many. It has none where there is one party.
func partyShares(c compare.Comparison, load float64) layout.Table {
	t := layout.Table{Head: []string{"share of"}}
	parties := partiesAt(c, load)
	few := len(parties) <= mostShares
	switch {
	case len(parties) < 2:
		return t
	case few:
		t.Head = append(t.Head, parties...)
	default:
		t.Head = append(t.Head, "least", fmt.Sprintf("most of %d", len(parties)))
	}
	for _, scheme := range c.Schemes {
		var shares []float64
		for _, name := range parties {
			if r, ok := c.CoexistenceRow(scheme, load, coexist.Share, name); ok {
				shares = append(shares, r.Value)
			}
		}
		if len(shares) < len(parties) {
			continue
		}
		if !few {
			shares = []float64{slices.Min(shares), slices.Max(shares)}
		}
		row := []string{scheme}
		for _, s := range shares {
			row = append(row, percentText(s)+"%")
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// percentText is a share in percent, without the sign: three digits of it.
func percentText(share float64) string {
	switch p := 100 * share; {
	case p >= 9.995:
		return fmt.Sprintf("%.1f", p)
	case p == 0:
		return "0"
	default:
		return fmt.Sprintf("%.2g", p)
	}
}

// coexistenceCell is a value, and its verdict where there is one.
func coexistenceCell(c compare.Comparison, scheme string, load float64, measure, of string) string {
	r, ok := c.CoexistenceRow(scheme, load, measure, of)
	if !ok {
		return "-"
	}
	return strings.TrimSpace(measureText(r.Measure, r.Unit, r.Value) + " " + formatVerdict(r.Verdict))
}

// measureText is a value of a measure.
func measureText(measure, unit string, value float64) string {
	switch {
	case unit == "us":
		return layout.Micros(value)
	case unit == "bit/s":
		return fmt.Sprintf("%.3f Gbps", value/1e9)
	case measure == coexist.Jain || measure == coexist.JainParties || measure == coexist.JainFlows:
		return fmt.Sprintf("%.3f", value)
	}
	return percentText(value) + "%"
}

// partyTable has a row for each party under each scheme.
func partyTable(c compare.Comparison, load float64) layout.Table {
	t := layout.Table{Name: "parties", Title: "Parties", Head: []string{"scheme", "party", "share", "95 %", "goodput a flow", "95 %"}}
	parties := partiesAt(c, load)
	if len(parties) < 2 {
		return t
	}
	for _, scheme := range c.Schemes {
		for _, party := range parties {
			share, ok := c.CoexistenceRow(scheme, load, coexist.Share, party)
			if !ok {
				continue
			}
			flow, _ := c.CoexistenceRow(scheme, load, coexist.PerFlow, party)
			t.Rows = append(t.Rows, []string{
				scheme, party, measureText(share.Measure, share.Unit, share.Value), spanText(share), measureText(flow.Measure, flow.Unit, flow.Value), spanText(flow),
			})
		}
	}
	return t
}

// spanText is an interval of values, or nothing where one seed cannot tell.
func spanText(r compare.CoexistenceRow) string {
	if r.CI95 == nil {
		return ""
	}
	return measureText(r.Measure, r.Unit, r.CI95[0]) + " to " + measureText(r.Measure, r.Unit, r.CI95[1])
}

// delayTable has a row for each class of packets under each scheme, and one for all.
func delayTable(c compare.Comparison, load float64) layout.Table {
	t := layout.Table{Name: "delays", Title: "Waiting at the bottleneck", Wide: true, Head: []string{"scheme", "packets"}}
	measures := []string{coexist.DelayMean, coexist.DelayP50, coexist.DelayP95, coexist.DelayP99, coexist.DelayP999, coexist.Marks, coexist.Losses}
	t.Head = append(t.Head, "average", "p50", "p95", "p99", "p99.9", "marked", "lost")
	if !slices.ContainsFunc(c.Coexistence, func(r compare.CoexistenceRow) bool { return r.Load == load && r.Measure == coexist.DelayP99 }) {
		return t
	}
	for _, scheme := range c.Schemes {
		var of []string
		for _, r := range c.Coexistence {
			if r.Scheme == scheme && r.Load == load && r.Measure == coexist.DelayMean {
				of = append(of, r.Of)
			}
		}
		for _, name := range of {
			row := []string{scheme, name}
			if name == "" {
				row[1] = "all"
			}
			for _, m := range measures {
				row = append(row, coexistenceCell(c, scheme, load, m, name))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// shareNote says what the figures of coexistence rest on.
func shareNote(c compare.Comparison, load float64) string {
	j, ok := c.JudgedAt(c.Baseline, load)
	if !ok {
		return ""
	}
	var parts []string
	if f := j.First; len(f.Parties) > 1 {
		when := "whenever they had flows; they never had all at once"
		if f.Windows > 0 {
			when = fmt.Sprintf("over %d windows of %v in which all had flows under way", f.Windows, f.Window)
		}
		parts = append(parts, "shares of goodput "+when)
		if f.Windows > 0 {
			parts = append(parts, "Jain's index is of goodput a flow, 1 is fair")
		}
		if f.Changes > 0 {
			parts = append(parts, "settled: after which part of changes, and how soon, all were within 20 % of fair for five windows")
		}
	}
	if _, ok := c.CoexistenceRow(c.Baseline, load, coexist.JainFlows, ""); ok && len(j.First.Parties) < 2 {
		parts = append(parts, "Jain's index is of the goodput of flows that were under way for half of the time or more, 1 is fair")
	}
	if j.First.Port != "" {
		parts = append(parts, "link, waits, marks and losses are of the port "+j.First.Port)
	}
	return strings.Join(parts, "; ") + "."
}
