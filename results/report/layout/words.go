package layout

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Micros prints a time of so many microseconds in at most 8 characters.
func Micros(us float64) string {
	switch {
	case us < 9_999.95:
		return fmt.Sprintf("%.1fus", us)
	case us < 9_999_950:
		return fmt.Sprintf("%.1fms", us/1e3)
	}
	return fmt.Sprintf("%.1fs", us/1e6)
}

// Count prints a count in at most 6 characters, with three significant
// digits from a million on. One that nobody made is below zero.
func Count(n int64) string {
	switch {
	case n < 0:
		return "-"
	case n < 1e6:
		return strconv.FormatInt(n, 10)
	case n < 999_500_000:
		return fmt.Sprintf("%.3gM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.3gG", float64(n)/1e9)
}

// Ratio prints a normalised value: two decimals where they matter.
func Ratio(r float64) string {
	if r >= 99.995 {
		return fmt.Sprintf("x%.0f", r)
	}
	return fmt.Sprintf("x%.2f", r)
}

// Shorten cuts a name to a width and shows that it did. The number of the run
// that a scheme is of stays: it is what tells it from its namesakes.
func Shorten(s string, width int) string {
	if len(s) <= width {
		return s
	}
	run := ""
	if at := strings.LastIndexByte(s, '@'); at > 0 && len(s)-at < width/2 {
		run = s[at:]
	}
	return s[:width-2-len(run)] + ".." + run
}

// Wrap breaks text between words into lines of at most width characters; all
// lines but the first begin with the indent.
func Wrap(text string, width int, indent string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// Pad fills text up to a width with spaces behind it, and Lead with spaces before it.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
func Lead(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}
