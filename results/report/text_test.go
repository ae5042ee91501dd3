package report

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/resultstest"
)

func tableOf(t *testing.T, c compare.Comparison, o TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, c, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTable(t *testing.T) {
	c := compared(t, resultstest.Measured())
	c.Differences = []compare.Difference{{Field: "kernel", Values: []compare.RunValue{{Run: "run-a", Value: "6.1"}, {Run: "run-b", Value: "6.18"}}}}
	golden(t, "table.txt", []byte(tableOf(t, c, TextOptions{})))
}

func TestTableOfOneScheme(t *testing.T) {
	golden(t, "table-one.txt", []byte(tableOf(t, compared(t, resultstest.Measured()[:4]), TextOptions{})))
}

// The widest that a table can become.
func TestTableFits(t *testing.T) {
	points := resultstest.Measured()
	for i := range points {
		points[i].Scheme += "-with-a-very-long-name-that-nobody-wants-to-type"
		points[i].Ports[0].Marked, points[i].Ports[0].DropsFull, points[i].Hosts[0].Timeouts = 987_654_321, 12_345_678_901, 123_456
		points[i].Fidelity.Label = results.FidelityLow
		for k := range points[i].Flows {
			points[i].Flows[k].FCT *= 1000
			if i >= 4 {
				points[i].Flows[k].FCT *= 500
			}
		}
	}
	for line := range strings.Lines(tableOf(t, compared(t, points), TextOptions{})) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 100 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

// Colour marks differences and nothing else, and leaves the text as it is.
func TestTableColor(t *testing.T) {
	c := compared(t, resultstest.Measured())
	plain, colored := tableOf(t, c, TextOptions{}), tableOf(t, c, TextOptions{Color: true})
	if strings.Contains(plain, "\x1b") {
		t.Error("the plain table has escape codes")
	}
	codes := regexp.MustCompile("\x1b\\[[0-9]+m([^\x1b]*)\x1b\\[0m")
	if got := codes.ReplaceAllString(colored, "$1"); got != plain {
		t.Error("colour changes the text")
	}
	cells := codes.FindAllStringSubmatch(colored, -1)
	for _, m := range cells {
		if !strings.HasSuffix(m[1], " +") && !strings.HasSuffix(m[1], " -") {
			t.Errorf("%q is coloured", m[1])
		}
	}
	if len(cells) == 0 {
		t.Error("nothing is coloured")
	}
}

func TestTableReportsAFailingWriter(t *testing.T) {
	if err := Text(failing{}, compared(t, resultstest.Measured()[:4]), TextOptions{}); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

var errFull = errors.New("no space left")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestFormatPercent(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{compare.FormatPercent(-61.4), "61"}, {compare.FormatPercent(9.94), "9.9"}, {compare.FormatPercent(9.96), "10"}, {compare.FormatPercent(-0.04), "0.0"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
