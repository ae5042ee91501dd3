package results

import (
	"fmt"
	"strings"
)

// Finding is what a comparison found on one scheme at one load, in words.
type Finding struct {
	Scheme string
	Load   float64
	Text   string // such as "small p99 61 % lower than droptail (95 % interval 48 to 70), no difference overall"
}

// Findings puts the comparison into words, one sentence for every scheme but
// the baseline, by load and scheme.
func (c Comparison) Findings() []Finding {
	var out []Finding
	for _, load := range c.Loads {
		for _, s := range c.Schemes {
			if _, ok := c.Row(s, load, All, Mean); ok && s != c.Baseline {
				out = append(out, Finding{s, load, c.sentence(s, load)})
			}
		}
	}
	return out
}

// sentence names every metric that differs, the small flows' tail first, and
// always ends with the mean over all flows.
func (c Comparison) sentence(scheme string, load float64) string {
	var parts []string
	than := " than " + c.Baseline
	interval := "95 % interval "
	for _, s := range []struct {
		statistic
		subject, where string
	}{
		{statistic{Small, P99}, "small p99 ", ""},
		{statistic{Small, Mean}, "small average ", ""},
		{statistic{Medium, Mean}, "medium average ", ""},
		{statistic{Large, Mean}, "large average ", ""},
		{statistic{Queries, P99}, "p99 of queries ", ""},
		{statistic{Queries, Mean}, "query average ", ""},
		{statistic{All, P99}, "p99 of all flows ", ""},
		{statistic{All, Mean}, "", " overall"},
	} {
		r, ok := c.Row(scheme, load, s.class, s.metric)
		if !ok || r.Verdict == NoDifference {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s%s%s%s (%s%s)", s.subject, change(r), than, s.where, interval, span(r)))
		than, interval = "", "" // said once
	}
	switch r, _ := c.Row(scheme, load, All, Mean); {
	case len(parts) == 0:
		return "no difference from " + c.Baseline + " found"
	case r.Verdict == NoDifference:
		parts = append(parts, "no difference overall")
	}
	return strings.Join(parts, ", ")
}

func change(r Row) string {
	if r.Verdict == Better {
		return formatPercent(r.Difference) + " % lower"
	}
	return formatPercent(r.Difference) + " % higher"
}

// span prints an interval that excludes zero by its sizes, the smaller first.
func span(r Row) string {
	low, high := r.CI95[0], r.CI95[1]
	if r.Verdict == Better {
		low, high = high, low
	}
	return formatPercent(low) + " to " + formatPercent(high)
}
