package layout

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Text prints the table for people, at most so many characters wide: columns that do
// not fit stand below, beside the first one again. The title stands above.
func (t Table) Text(width int) string {
	var b bytes.Buffer
	if t.Title != "" {
		b.WriteString(Wrap(t.Title, width, "  ") + "\n")
	}
	widths := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for first := 1; first < len(t.Head); {
		if first > 1 {
			b.WriteByte('\n')
		}
		beyond, taken := first, widths[0]
		for beyond < len(widths) && (beyond == first || taken+2+widths[beyond] <= width) {
			taken += 2 + widths[beyond]
			beyond++
		}
		for _, row := range slices.Concat([][]string{t.Head}, t.Rows) {
			line := Pad(row[0], widths[0])
			for i := first; i < beyond; i++ {
				line += "  " + Lead(row[i], widths[i])
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		first = beyond
	}
	return b.String()
}
