package results

import "strings"

// Derived is a parameter that a lab leaves to its scheme, and what it became.
type Derived struct {
	Scheme string `json:"scheme"`
	Param  string `json:"parameter"`
	Value  string `json:"value"` // as a lab would write it
	From   string `json:"from"`  // what it was computed from
}

// DerivedLines is a line of text a scheme, such as "tcn: threshold 220us from the
// 90th percentile of base RTTs (220us)".
func DerivedLines(all []Derived) []string {
	var lines []string
	for _, scheme := range Distinct(all, func(d Derived) string { return d.Scheme }) {
		var parts []string
		for _, from := range Distinct(all, func(d Derived) string { return d.From }) {
			var values []string
			for _, d := range all {
				if d.Scheme == scheme && d.From == from {
					values = append(values, d.Param+" "+d.Value)
				}
			}
			if len(values) > 0 {
				parts = append(parts, strings.Join(values, ", ")+" from "+from)
			}
		}
		lines = append(lines, scheme+": "+strings.Join(parts, "; "))
	}
	return lines
}
