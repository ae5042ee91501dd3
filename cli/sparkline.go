package cli

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"aqmlab/results"
)

// glyphs are what sparklines are made of: nothing first, then the lowest to the highest.
type glyphs []rune

// glyphsOf are those that a terminal shows, by the variables of its environment. Without
// UTF-8, and where the blocks are two columns wide, they are ASCII.
func glyphsOf(env func(name string) string) glyphs {
	if unicodeLocale(env) && runewidth.RuneWidth('█') == 1 {
		return glyphs(" ▁▂▃▄▅▆▇█")
	}
	return glyphs(" _.-:=+*#")
}

// ascii tells whether they are for terminals that show nothing else.
func (g glyphs) ascii() bool { return g[1] == '_' }

// unicodeLocale tells whether text is UTF-8, as POSIX says it (XBD 8.2). The console of
// Windows is written to as Unicode, whatever its locale.
func unicodeLocale(env func(name string) string) bool {
	if runtime.GOOS == "windows" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToUpper(env(name)); locale != "" {
			return strings.Contains(locale, "UTF-8") || strings.Contains(locale, "UTF8")
		}
	}
	return false
}

// sparkline draws values from zero up to the highest.
func (g glyphs) sparkline(values []float64) string {
	top, steps := slices.Max(values), float64(len(g)-1)
	line := make([]rune, len(values))
	for i, v := range values {
		line[i] = g[0]
		if v > 0 {
			line[i] = g[max(1, min(len(g)-1, int(v/top*steps+0.5)))]
		}
	}
	return string(line)
}

// Columns of sparklines: as many as are left beside the words, from few to many.
const (
	fewColumns  = 10
	manyColumns = 60
)

// course draws what a port held and marked so far, each line with its scale. It is empty
// where the terminal is too narrow for that.
func (g glyphs) course(q *results.LiveQueue, width int) []string {
	const margin, longest = "        queue ", " up to 100.0 % of packets"
	n := min(manyColumns, width-len(margin)-len(longest)-1)
	if n < fewColumns || len(q.Us) == 0 {
		return nil
	}
	n = min(n, len(q.Us))
	held, marked := make([]float64, n), make([]float64, n)
	for i := range n {
		from, to := i*len(q.Us)/n, (i+1)*len(q.Us)/n
		held[i], marked[i] = mean(q.Mean[from:to]), share(q.Marks[from:to], q.Packets[from:to])
	}
	all := []string{
		fmt.Sprintf("        queue %s up to %.1f KB, %s", g.sparkline(held), slices.Max(held), plain([]byte(q.Port))),
		fmt.Sprintf("        marks %s %s", g.sparkline(marked), upTo(slices.Max(marked))),
	}
	for i, line := range all { // a line that wraps would stay on the screen
		all[i] = runewidth.Truncate(line, width-1, "")
	}
	return all
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// share is that of the packets that left which were marked.
func share(marks, packets []int64) float64 {
	var marked, left int64
	for i := range marks {
		marked += marks[i]
		left += packets[i]
	}
	return min(1, float64(marked)/float64(max(1, left)))
}

// upTo is the scale of marks.
func upTo(share float64) string {
	if share == 0 {
		return "none so far"
	}
	return fmt.Sprintf("up to %.1f %% of packets", 100*share)
}
