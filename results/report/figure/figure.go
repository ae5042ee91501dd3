// Package figure draws plots for papers: vectors, as SVG and as PDF with its
// fonts inside, legible at the width of a column, and with lines that are told
// apart by colour, by dashes and by markers, each alone.
package figure

import "math"

// Figure is one plot.
type Figure struct {
	Name   string // stem of the names of its files
	Title  string // its caption
	About  string // what it shows, for those who do not see it
	X, Y   Axis
	Series []Series
	Rule   float64   // value to compare with, which a dashed line is drawn at; zero: none
	Marks  []float64 // values of X at which a dotted line is drawn; those beyond the axis are left out
	Heat   *Heat     // shades the fields between rows and columns; nil: none
}

// Heat shades the fields of a figure whose axes have rows and columns: the higher a
// value, the darker its field.
type Heat struct {
	Fields []Field
	Log    bool // shades go by the logarithms of the values, which are above zero
}

// Field is one field of a [Heat]. Those that are not there have no value.
type Field struct {
	Row, Column int
	Value       float64
	Text        string // the value in words; stands in the field where it fits
	Note        string // is shown when the mouse rests on it in a browser
	Framed      bool   // it is set off from the others
}

// Form is how a series is drawn.
type Form int

// The forms.
const (
	Curve  Form = iota // a dashed line with a few markers along it, for many points
	Joined             // a marker with its interval at every point, joined by a dashed line
	Plain              // a thin unbroken line, for a course in time that is alone
	Shade              // the area below
	Dots               // a marker with its interval at every point, not joined
)

// Series is one line of a figure.
type Series struct {
	Name   string // in the legend; empty: not there
	Style  int    // colour, dashes and marker, from 0; after 8 the combinations change
	Form   Form
	Points []Point
	Marked float64 // where markers of a Curve begin, as a share of the space between two, in [0, 1)
}

// Point is a place on a series, in the values of the axes.
type Point struct {
	X, Y float64
	// Low and High bound the interval of a point that is Joined or one of Dots: of X where the
	// Y axis has rows, else of Y. Equal ones are none.
	Low, High float64
	// Left and Right bound that of X of a point that also has one, of a figure without
	// rows. Equal ones are none.
	Left, Right float64
	Note        string // is shown when the mouse rests on such a point in a browser
}

// The size of a figure, in SVG pixels of which a PDF takes 96 an inch. At the
// width of a column (3.3 inches) text is 7 points high.
const (
	width      = 360.0
	plotHeight = 150.0
	rowHeight  = 20.0
	lineHeight = 15.0
)

// frame is where a figure's values are drawn.
type frame struct {
	x, y                     scale
	left, right, top, bottom float64
	height                   float64 // of the whole figure
	legend                   [][]entry
}

// entry is a line of the legend and where it begins.
type entry struct {
	series Series
	x      float64
}

// layout finds the places of everything.
func (f Figure) layout() frame {
	l := frame{left: 40, right: width - 18, legend: f.entries()}
	l.top = 8 + lineHeight*float64(len(l.legend))
	if f.Heat != nil {
		l.top += lineHeight
	}
	l.bottom = l.top + plotHeight
	if n := len(f.Y.Rows); n > 0 {
		for _, name := range f.Y.Rows {
			l.left = max(l.left, 14+textWidth(name))
		}
		if f.Y.Title != "" {
			l.left += lineHeight
		}
		l.bottom = l.top + rowHeight*float64(n)
		l.y = scale{low: -0.5, high: float64(n) - 0.5, from: l.top, to: l.bottom}
	} else {
		l.y = f.Y.scale(l.bottom, l.top)
		for _, t := range l.y.ticks() {
			l.left = max(l.left, 24+textWidth(t.text))
		}
	}
	l.x = f.X.scale(l.left, l.right)
	l.height = l.bottom + 2*lineHeight + 4
	return l
}

// entries breaks the legend into lines. A figure with rows has their names.
func (f Figure) entries() (lines [][]entry) {
	if len(f.Y.Rows) > 0 {
		return nil
	}
	x := math.Inf(1)
	for _, s := range f.Series {
		if s.Name == "" {
			continue
		}
		if takes := legendLine + textWidth(s.Name); x+takes > width-6 {
			lines, x = append(lines, nil), 40
		}
		last := len(lines) - 1
		lines[last] = append(lines[last], entry{s, x})
		x += legendLine + textWidth(s.Name) + 14
	}
	return lines
}

// legendLine is the width of a line in the legend with the space behind it.
const legendLine = 32
