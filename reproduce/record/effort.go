package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// Effort is what one origin measured on one runtime.
type Effort struct {
	Origin
	Runtime     string
	Points      int
	Took        time.Duration // of the points, added up
	First, Last time.Time     // when points began
}

// Efforts adds up the points of records, in the order of time.
func Efforts(records map[string]*Record) []Effort {
	sums := make(map[string]Effort)
	for _, r := range records {
		for _, k := range r.Points {
			e, ok := sums[k.Origin+k.Runtime]
			if !ok {
				e = Effort{Origin: r.Origins[k.Origin], Runtime: k.Runtime, First: k.Measured, Last: k.Measured}
			}
			e.Points++
			e.Took += time.Duration(k.Seconds * float64(time.Second))
			if k.Measured.Before(e.First) {
				e.First = k.Measured
			}
			if k.Measured.After(e.Last) {
				e.Last = k.Measured
			}
			sums[k.Origin+k.Runtime] = e
		}
	}
	var all []Effort
	for _, id := range slices.Sorted(maps.Keys(sums)) {
		all = append(all, sums[id])
	}
	slices.SortStableFunc(all, func(a, b Effort) int {
		return cmp.Or(a.First.Compare(b.First), strings.Compare(a.Runtime, b.Runtime))
	})
	return all
}
