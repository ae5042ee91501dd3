package kind

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnknown is wrapped by the error for a name that no row has.
var ErrUnknown = errors.New("unknown")

// Unknown is the error for a name that is not among the known ones: it wraps
// [ErrUnknown], lists them, and points out the one that looks alike. What says
// what the name stands for, such as "transport".
func Unknown(what, name string, known []string) error {
	return fmt.Errorf("%w %s %q: %s", ErrUnknown, what, name, oneOf(name, known))
}

func oneOf(name string, known []string) string {
	s := "want one of " + strings.Join(known, ", ")
	if near := Nearest(name, known); near != "" {
		s += " (did you mean " + near + "?)"
	}
	return s
}

// Nearest is the known name that a misspelt one most likely stands for: at most
// two edits away and at most a third of its letters, without regard to case. It
// is empty when none is, and the first of several.
func Nearest(name string, known []string) string {
	best, near := 3, ""
	for _, k := range known {
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if d < best && 3*d <= len(k) {
			best, near = d, k
		}
	}
	return near
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b, no letter being edited twice (optimal string
// alignment). It is at least the difference in length, which it returns early
// when that is beyond any typing error.
func distance(a, b string) int {
	if gap := max(len(a)-len(b), len(b)-len(a)); gap > 2 {
		return gap
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
