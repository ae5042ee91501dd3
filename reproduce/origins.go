package reproduce

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// effort is what one origin measured on one runtime.
type effort struct {
	origin
	runtime     string
	points      int
	took        time.Duration
	first, last time.Time
}

// efforts adds up the points of all records.
func (v overview) efforts() []effort {
	sums := make(map[string]*effort)
	for _, r := range v.records {
		for _, k := range r.Points {
			id := k.Origin + k.Runtime
			e := sums[id]
			if e == nil {
				e = &effort{origin: r.Origins[k.Origin], runtime: k.Runtime, first: k.Measured, last: k.Measured}
				sums[id] = e
			}
			e.points++
			e.took += time.Duration(k.Seconds * float64(time.Second))
			if k.Measured.Before(e.first) {
				e.first = k.Measured
			}
			if k.Measured.After(e.last) {
				e.last = k.Measured
			}
		}
	}
	var all []effort
	for _, id := range slices.Sorted(maps.Keys(sums)) {
		all = append(all, *sums[id])
	}
	slices.SortStableFunc(all, func(a, b effort) int {
		return cmp.Or(a.first.Compare(b.first), strings.Compare(a.runtime, b.runtime))
	})
	return all
}

// writeOrigins writes by what commands the points were measured, and where.
func (v overview) writeOrigins(w io.Writer) {
	fmt.Fprint(w, "\n## Commands and machines\n\n")
	efforts := v.efforts()
	if len(efforts) == 0 {
		fmt.Fprintln(w, "Nothing has been measured yet.")
		return
	}
	fmt.Fprint(w, "\"Time\" is that of the points, added up: each takes one core in virtual time.\n\n")
	fmt.Fprintln(w, "| command | runtime | points | time | from | to | aqmlab | machine |\n|---|---|---|---|---|---|---|---|")
	for _, e := range efforts {
		m := e.Machine
		fmt.Fprintf(w, "| `%s` | %s | %d | %v | %s | %s | %.12s | %s, %d cores, %.1f GiB, Linux %s, %s |\n",
			cellText(e.Command), e.runtime, e.points, e.took.Round(time.Second), minute(e.first), minute(e.last), e.Revision,
			cellText(m.CPU), m.Cores, float64(m.Memory)/(1<<30), m.Kernel, m.GoVersion)
	}
}

// minute prints a time to the minute, in UTC.
func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }
