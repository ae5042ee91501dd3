package response

import "fmt"

// flagged is a value for people; an exclamation mark says that it rests on points of low
// fidelity.
func flagged(text string, low int) string {
	if low > 0 {
		return "!" + text
	}
	return text
}

// doubt says in words how many of a value's points have low fidelity, or is empty.
func doubt(low, seeds int) string {
	if low == 0 {
		return ""
	}
	return fmt.Sprintf(", low fidelity in %d of %d seeds", low, seeds)
}

// low counts the points of low fidelity.
func (g *grid) low() (n int) {
	for _, c := range g.order {
		n += c.low
	}
	return n
}

// warnLow warns of points of low fidelity.
func (v *View) warnLow() {
	low, have := v.grid.low(), "have"
	if low == 0 {
		return
	}
	if low == 1 {
		have = "has"
	}
	v.Warnings = append(v.Warnings, fmt.Sprintf("%d of %d points %s low fidelity, as the machine did not keep up: do not believe an advantage that shows only there. Effects rest on them, too. For example, %v: %s.",
		low, v.grid.measured(), have, v.grid.example.Coord, v.grid.example.Low[0]))
}
