package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// example has two curves and an interval.
func example() Figure {
	return Figure{
		Name: "example", Title: "An <example>", About: "Two \"curves\"",
		X: Axis{Title: "FCT (ms)", Low: 0.07, High: 12, Log: true},
		Y: Axis{Title: "share & more", High: 1},
		Series: []Series{
			{Name: "a<b", Style: 1, Points: []Point{{X: 0.07}, {X: 1, Y: 0.5}, {X: 12, Y: 1}}},
			{Name: "bar", Style: 2, Form: Joined, Points: []Point{{X: 1, Y: 0.5, Low: 0.4, High: 0.6, Note: "half"}}},
			{Name: "peak", Form: Shade, Points: []Point{{X: 0.1, Y: 0.2}, {X: 10, Y: 0.3}}},
			{Form: Plain, Points: []Point{{X: 0.1, Y: 0.2}, {X: 10, Y: 0.3}}},
		},
		Rule: 0.9,
	}
}

// elements parses a document strictly and counts its elements by class.
func elements(t *testing.T, document []byte) map[string]int {
	t.Helper()
	count := make(map[string]int)
	d := xml.NewDecoder(bytes.NewReader(document))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
			for _, a := range e.Attr {
				if a.Name.Local == "class" {
					count[a.Value]++
				}
			}
		}
	}
}

func TestSVGHasAllMarks(t *testing.T) {
	count := elements(t, example().SVG())
	// The legend has a line and a marker, too. The interval has two whiskers; one
	// point alone is not joined.
	want := map[string]int{"series": 4, "point": 1, "title": 1, "s1": 2, "f-s1": markers + 1, "s2": 3 + 1, "f-s2": 2, "f-s0": 2, "s0": 1}
	for what, n := range want {
		if count[what] != n {
			t.Errorf("%d of %s, want %d", count[what], what, n)
		}
	}
}

// Nothing may be drawn beyond the edges, where it would be cut off.
func TestSVGStaysInside(t *testing.T) {
	rows := Figure{X: Axis{Low: 0.97, High: 1.13}, Y: Axis{Rows: []string{"dctcp-red-at-dequeue..", "tcn"}}, Rule: 1, Series: []Series{
		{Form: Joined, Points: []Point{{X: 0.98, Y: 0, Low: 0.97, High: 1.13}}},
	}}
	many := example()
	for range 12 {
		many.Series = append(many.Series, Series{Name: "a scheme with a long name"})
	}
	for _, f := range []Figure{example(), rows, many} {
		height := f.layout().height
		for _, m := range regexp.MustCompile(`[ML](-?[\d.]+) (-?[\d.]+)`).FindAllSubmatch(f.SVG(), -1) {
			x, _ := strconv.ParseFloat(string(m[1]), 64)
			y, _ := strconv.ParseFloat(string(m[2]), 64)
			if x < 0 || x > width || y < 0 || y > height {
				t.Errorf("%s is outside of %v x %v", m[0], width, height)
			}
		}
		for _, line := range f.layout().legend {
			if last := line[len(line)-1]; last.x+legendLine+textWidth(last.series.Name) > width {
				t.Errorf("legend entry %q is cut off", last.series.Name)
			}
		}
	}
}

// Publishers refuse fonts that are not inside.
func TestPDF(t *testing.T) {
	one, err := example().PDF()
	if err != nil {
		t.Fatal(err)
	}
	two, err := example().PDF()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one, two) {
		t.Error("equal figures are different documents")
	}
	// 96 pixels of the drawing are an inch, which has 72 points.
	page := fmt.Sprintf("/MediaBox [0 0 %.2f %.2f]", 0.75*width, 0.75*example().layout().height)
	for _, want := range []string{"%PDF-", "/FontFile2", page} {
		if !bytes.Contains(one, []byte(want)) {
			t.Errorf("the document has no %s", want)
		}
	}
	if bytes.Contains(one, []byte("/Helvetica")) {
		t.Error("the document has a font that is not inside")
	}
}

// Styles of any number are told apart, without colour as well: no two of them
// have both dashes and markers in common.
func TestStyles(t *testing.T) {
	type look struct {
		dashes string
		marker place
	}
	seen := map[look]int{}
	for style := range 6 * colours {
		l := look{strings.Trim(strings.Join(strings.Fields(string(appendFloats(dashes(style)))), " "), " "), marker(style)[1]}
		if other, ok := seen[l]; ok {
			t.Errorf("styles %d and %d look the same", style, other)
		}
		seen[l] = style
	}
}

func appendFloats(v []float64) (b []byte) {
	for _, x := range v {
		b = append(strconv.AppendFloat(b, x, 'g', -1, 64), ' ')
	}
	return b
}

func TestMarkersAreSpacedEvenly(t *testing.T) {
	course := []place{{0, 0}, {30, 40}, {30, 40}, {100, 40}} // 120 long
	got := spaced(course, 0)
	if len(got) != markers {
		t.Fatalf("%d markers, want %d", len(got), markers)
	}
	if d := distance(got[5], got[6]); math.Abs(d-120.0/markers) > 1e-9 {
		t.Errorf("the last two are %v apart, want %v", d, 120.0/markers)
	}
	if slices.Contains(spaced(course, 0.5), got[0]) {
		t.Error("a curve that begins elsewhere has the same markers")
	}
	if spaced(nil, 0) != nil || spaced([]place{{1, 1}, {1, 1}}, 0) != nil {
		t.Error("nothing has markers")
	}
}

// TestIntervalsOfBoth: a point may have an interval of X beside that of Y, each with two
// whiskers; rows have none of X beside their own.
func TestIntervalsOfBoth(t *testing.T) {
	f := Figure{X: Axis{High: 10}, Y: Axis{High: 10}, Series: []Series{{Form: Dots, Points: []Point{{X: 5, Y: 5, Low: 4, High: 6}}}}}
	lines := func(f Figure) int { return strings.Count(string(f.SVG()), "<path") }
	one := lines(f)
	f.Series[0].Points[0].Left, f.Series[0].Points[0].Right = 3, 7
	if got := lines(f); got != one+3 {
		t.Errorf("%d lines, want three more than %d", got, one)
	}
	f.Y = Axis{Rows: []string{"a"}}
	f.Series[0].Points[0].Y = 0
	with := lines(f)
	f.Series[0].Points[0].Left, f.Series[0].Points[0].Right = 0, 0
	if got := lines(f); got != with {
		t.Errorf("with rows: %d lines and %d", with, got)
	}
}

// Marks stand at their values, and not where there is no axis.
func TestMarks(t *testing.T) {
	f := example()
	without := strings.Count(string(f.SVG()), `stroke-dasharray="1 2"`)
	f.Marks = []float64{0.001, 0.07, 1, 12, 1000}
	if got := strings.Count(string(f.SVG()), `stroke-dasharray="1 2"`) - without; got != 3 {
		t.Errorf("%d marks, want 3", got)
	}
}
