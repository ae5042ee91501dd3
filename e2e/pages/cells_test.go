package pages

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// grid is what a comment of cells says of a table, a line each:
//
//	run LAB FLAGS     a run, of which rows are schemes; there may be several
//	each LAB FLAGS    a run for each row; $1 and $2 are the words in the row's head
//	set WORD FLAGS    what rows with this word in their head have besides
//	cell [N:]MEASURE [of PARTY] as FORMAT   what cells show, column by column
//
// With each and one cell, columns are schemes; with more cells the scheme is $1. MEASURE is
// one of coexistence in compare --json, of run N, which is 1 unless said otherwise. FORMAT is
// that of fmt with the value, in percent, us and 1; "interval": the value in percent, and
// half of its interval; "ms": values of measures with commas between them, in ms. Cells that
// are empty stay so. The head of a row is the columns before the first cell, and outside of
// Markdown what stands before two spaces.
type grid struct {
	runs  []string
	each  string
	extra map[string]string
	cells []cell
}

// cell is what the cells of a column show.
type cell struct {
	run                int // from 0
	measure, of, print string
}

// value is one of coexistence, as compare --json has it.
type value struct {
	Scheme, Measure, Of, Unit string
	Value                     *float64
	CI95                      []float64
}

// parseGrid reads the words of a comment.
func parseGrid(words string) (g grid, err error) {
	g.extra = map[string]string{}
	form := regexp.MustCompile(`^cell (?:(\d):)?(\S+)(?: of (.+?))? as (.+)$`)
	for line := range strings.Lines(words) {
		line = strings.TrimSpace(line)
		key, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "":
		case key == "run":
			g.runs = append(g.runs, rest)
		case key == "each":
			g.each = rest
		case key == "set":
			word, flags, _ := strings.Cut(rest, " ")
			g.extra[word] = flags
		case form.MatchString(line):
			found := form.FindStringSubmatch(line)
			c := cell{measure: found[2], of: found[3], print: found[4]}
			if found[1] != "" {
				n, _ := strconv.Atoi(found[1]) // a digit
				c.run = n - 1
			}
			g.cells = append(g.cells, c)
		default:
			return g, fmt.Errorf("cannot read %q", line)
		}
	}
	if len(g.cells) == 0 || (len(g.runs) == 0) == (g.each == "") {
		return g, fmt.Errorf("want cells, and either runs or one for each row")
	}
	return g, nil
}

// cells are the lines of a table with its values anew.
func cells(t *testing.T, s *shell, words string, lines []string) ([]string, error) {
	t.Helper()
	g, err := parseGrid(words)
	if err != nil {
		return nil, err
	}
	tab := readTable(lines)
	heads := 1
	if tab.markdown {
		heads = len(tab.rows[0]) - len(g.cells)
		if g.each != "" {
			heads = 1
			if strings.Contains(g.each, "$2") {
				heads = 2
			}
		}
	}
	var head []string
	for _, row := range tab.rows[1:] {
		head = headOf(row[:heads], head)
		for i := heads; i < len(row); i++ {
			if row[i] == "" {
				continue
			}
			c, scheme := g.cells[0], head[0]
			switch {
			case g.each != "" && len(g.cells) == 1:
				scheme = bare(tab.rows[0][i])
			default:
				c = g.cells[i-heads]
			}
			if row[i], err = c.text(values(t, s, g.of(c, head)), scheme, head); err != nil {
				return nil, err
			}
		}
	}
	return tab.lines(), nil
}

// of is the run of a cell in a row.
func (g grid) of(c cell, head []string) string {
	if g.each == "" {
		return g.runs[c.run]
	}
	run := fill(g.each, head)
	for _, word := range head {
		if flags := g.extra[word]; flags != "" {
			run += " " + flags
		}
	}
	return run
}

// fill puts the words of a row's head in.
func fill(text string, head []string) string {
	for i, word := range head {
		text = strings.ReplaceAll(text, "$"+strconv.Itoa(i+1), word)
	}
	return text
}

// headOf are the words of a row's head; an empty cell repeats what stands above.
func headOf(cells, above []string) (words []string) {
	for i, c := range cells {
		c = bare(c)
		if c == "" && i < len(above) {
			c = above[i]
		}
		words = append(words, c)
	}
	if len(words) == 1 && strings.Contains(words[0], ", ") {
		return strings.Split(words[0], ", ")
	}
	return words
}

// bare is a cell without what sets it off; a quantity without its space.
func bare(c string) string {
	c = strings.Trim(c, "`")
	return regexp.MustCompile(`^(\d+) (\w+)$`).ReplaceAllString(c, "$1$2")
}

// values are those of coexistence in a run.
func values(t *testing.T, s *shell, run string) (all []value) {
	t.Helper()
	folder := fmt.Sprintf("cells/%x", run)
	if len(folder) > 200 {
		folder = folder[len(folder)-200:]
	}
	out := s.run(t, fmt.Sprintf("aqmlab run %s --out %s >/dev/null && aqmlab compare --json %s/latest", run, folder, folder))
	var printed struct{ Coexistence []value }
	if err := json.Unmarshal([]byte(out), &printed); err != nil {
		t.Fatal(err)
	}
	return printed.Coexistence
}

// text is what a cell shows of a scheme.
func (c cell) text(all []value, scheme string, head []string) (string, error) {
	var shown []string
	for measure := range strings.SplitSeq(c.measure, ",") {
		v, err := find(all, value{Scheme: scheme, Measure: measure, Of: fill(c.of, head)})
		if err != nil {
			return "", err
		}
		scale := 100.0
		switch {
		case v.Unit == "us" && strings.HasSuffix(c.print, "ms"):
			scale = 1e-3
		case v.Unit != "" || strings.HasPrefix(v.Measure, "jain"):
			scale = 1
		}
		switch x := *v.Value * scale; {
		case c.print == "interval":
			shown = append(shown, fmt.Sprintf("%.0f ± %s", x, half(v.CI95, scale)))
		case c.print == "ms" && x < 0.995:
			shown = append(shown, fmt.Sprintf("%.2f", x))
		case c.print == "ms":
			shown = append(shown, fmt.Sprintf("%.0f", x))
		default:
			shown = append(shown, fmt.Sprintf(c.print, x))
		}
	}
	text := strings.Join(shown, ", ")
	if c.print == "ms" {
		text += " ms"
	}
	return text, nil
}

// find is the value of a scheme, a measure and a party.
func find(all []value, want value) (value, error) {
	for _, v := range all {
		if v.Scheme == want.Scheme && v.Measure == want.Measure && v.Of == want.Of && v.Value != nil {
			return v, nil
		}
	}
	return value{}, fmt.Errorf("no %s of %q under %s among %d values", want.Measure, want.Of, want.Scheme, len(all))
}

// half is half of an interval: a tenth at least, and with a digit after the point up to a half.
func half(interval []float64, scale float64) string {
	if len(interval) != 2 {
		return "?"
	}
	h := math.Max(math.Round((interval[1]-interval[0])/2*scale*10)/10, 0.1)
	if h > 0.5 {
		return fmt.Sprintf("%.0f", h)
	}
	return fmt.Sprintf("%.1f", h)
}
