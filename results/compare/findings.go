package compare

import (
	"fmt"
	"math"
	"strings"

	"aqmlab/results"
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
			if _, ok := c.Row(s, load, results.All, Mean); ok && s != c.Baseline {
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
		Statistic
		subject, where string
	}{
		{Statistic{results.Small, P99}, "small p99 ", ""},
		{Statistic{results.Small, Mean}, "small average ", ""},
		{Statistic{results.Medium, Mean}, "medium average ", ""},
		{Statistic{results.Large, Mean}, "large average ", ""},
		{Statistic{results.Queries, P99}, "p99 of queries ", ""},
		{Statistic{results.Queries, Mean}, "query average ", ""},
		{Statistic{results.All, P99}, "p99 of all flows ", ""},
		{Statistic{results.All, Mean}, "", " overall"},
	} {
		r, ok := c.Row(scheme, load, s.Class, s.Metric)
		if !ok || r.Verdict == NoDifference {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s%s%s%s (%s%s)", s.subject, change(r), than, s.where, interval, span(r)))
		than, interval = "", "" // said once
	}
	switch r, _ := c.Row(scheme, load, results.All, Mean); {
	case len(parts) == 0:
		return "no difference from " + c.Baseline + " found"
	case r.Verdict == NoDifference:
		parts = append(parts, "no difference overall")
	}
	return strings.Join(parts, ", ")
}

func change(r Row) string {
	if r.Verdict == Better {
		return FormatPercent(r.Difference) + " % lower"
	}
	return FormatPercent(r.Difference) + " % higher"
}

// span prints an interval that excludes zero by its sizes, the smaller first.
func span(r Row) string {
	low, high := r.CI95[0], r.CI95[1]
	if r.Verdict == Better {
		low, high = high, low
	}
	return FormatPercent(low) + " to " + FormatPercent(high)
}

// FormatPercent prints the size of a difference: whole percents, and one
// decimal below ten.
func FormatPercent(p float64) string {
	if p = math.Abs(p); p < 9.95 {
		return fmt.Sprintf("%.1f", p)
	}
	return fmt.Sprintf("%.0f", p)
}
