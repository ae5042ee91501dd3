package figure

import "math"

// draw draws the figure.
func (f Figure) draw(c canvas) {
	l := f.layout()
	l.shade(c, f.Heat)
	l.axes(c, f)
	l.rule(c, f)
	l.marks(c, f)
	for _, s := range f.Series {
		end := c.group("series", "")
		l.series(c, s, len(f.Y.Rows) > 0)
		end()
	}
	l.key(c)
}

// axes draws grid, frame, ticks and titles.
func (l frame) axes(c canvas, f Figure) {
	ticks := l.x.ticks
	if len(f.X.Columns) > 0 {
		ticks = func() []tick { return f.X.columnTicks(l.x) }
	}
	for _, t := range ticks() {
		if t.text == "" {
			c.line([]place{{t.at, l.bottom}, {t.at, l.bottom - 3}}, hair(ink))
			continue
		}
		if f.Heat == nil {
			c.line([]place{{t.at, l.top}, {t.at, l.bottom}}, hair(faint))
		}
		c.text(label{text: t.text, at: place{t.at, l.bottom + 13.5}, anchor: 0.5})
	}
	for i, name := range f.Y.Rows {
		c.text(label{text: name, at: place{l.left - 6, l.y.at(float64(i)) + 3.5}, anchor: 1})
	}
	if len(f.Y.Rows) == 0 {
		l.yTicks(c)
	}
	if f.Y.Title != "" {
		c.text(label{text: f.Y.Title, at: place{11, (l.top + l.bottom) / 2}, anchor: 0.5, up: true})
	}
	c.line([]place{{l.left, l.top}, {l.right, l.top}, {l.right, l.bottom}, {l.left, l.bottom}, {l.left, l.top}}, hair(ink))
	c.text(label{text: f.X.Title, at: place{(l.left + l.right) / 2, l.height - 5}, anchor: 0.5})
}

func (l frame) yTicks(c canvas) {
	for _, t := range l.y.ticks() {
		if t.text == "" {
			c.line([]place{{l.left, t.at}, {l.left + 3, t.at}}, hair(ink))
			continue
		}
		c.line([]place{{l.left, t.at}, {l.right, t.at}}, hair(faint))
		c.text(label{text: t.text, at: place{l.left - 4, t.at + 3.5}, anchor: 1})
	}
}

// rule draws the line to compare with.
func (l frame) rule(c canvas, f Figure) {
	if f.Rule == 0 {
		return
	}
	s := stroke{colour: ink, width: 0.8, dashes: []float64{4, 3}}
	if len(f.Y.Rows) > 0 {
		x := l.x.at(f.Rule)
		c.line([]place{{x, l.top}, {x, l.bottom}}, s)
		return
	}
	y := l.y.at(f.Rule)
	c.line([]place{{l.left, y}, {l.right, y}}, s)
}

// marks draws the lines at places of the X axis.
func (l frame) marks(c canvas, f Figure) {
	for _, x := range f.Marks {
		if at := l.x.at(x); at >= l.left && at <= l.right {
			c.line([]place{{at, l.top}, {at, l.bottom}}, stroke{colour: ink, width: 0.6, dashes: []float64{1, 2}})
		}
	}
}

// series draws one series.
func (l frame) series(c canvas, s Series, rows bool) {
	course := make([]place, len(s.Points))
	for i, p := range s.Points {
		course[i] = place{l.x.at(p.X), l.y.at(p.Y)}
	}
	whole := course
	course = thin(course)
	switch s.Form {
	case Shade:
		if n := len(course); n > 0 {
			c.fill(append(course, place{course[n-1].x, l.bottom}, place{course[0].x, l.bottom}), colour(s.Style), shadeOpacity)
		}
		return
	case Plain:
		c.line(course, stroke{colour: colour(s.Style), width: 1})
		return
	case Joined, Dots:
		for i, p := range s.Points {
			l.joint(c, s, p, whole[i], rows)
		}
	case Curve:
		for _, at := range spaced(course, s.Marked) {
			mark(c, s.Style, at)
		}
	}
	if len(course) > 1 && s.Form != Dots {
		c.line(course, stroke{colour(s.Style), 1.5, dashes(s.Style)})
	}
}

const shadeOpacity = 0.3

// joint draws a point and its interval, with whiskers.
func (l frame) joint(c canvas, s Series, p Point, at place, rows bool) {
	defer c.group("point", p.Note)()
	if p.Low != p.High {
		from, to, whisker := place{at.x, l.y.at(p.Low)}, place{at.x, l.y.at(p.High)}, place{2.5, 0}
		if rows {
			from, to, whisker = place{l.x.at(p.Low), at.y}, place{l.x.at(p.High), at.y}, place{0, 2.5}
		}
		thin := stroke{colour: colour(s.Style), width: 0.9}
		c.line([]place{from, to}, thin)
		for _, end := range []place{from, to} {
			c.line([]place{{end.x - whisker.x, end.y - whisker.y}, {end.x + whisker.x, end.y + whisker.y}}, thin)
		}
	}
	if p.Left != p.Right && !rows {
		thin := stroke{colour: colour(s.Style), width: 0.9}
		from, to := l.x.at(p.Left), l.x.at(p.Right)
		c.line([]place{{from, at.y}, {to, at.y}}, thin)
		for _, x := range []float64{from, to} {
			c.line([]place{{x, at.y - 2.5}, {x, at.y + 2.5}}, thin)
		}
	}
	mark(c, s.Style, at)
}

// mark draws a style's marker.
func mark(c canvas, style int, at place) {
	outline := marker(style)
	for i := range outline {
		outline[i].x += at.x
		outline[i].y += at.y
	}
	c.fill(outline, colour(style), 1)
}

// markers is how many markers a curve has.
const markers = 7

// spaced are places along a curve at equal distances, the first after a share of
// one.
func spaced(course []place, first float64) (out []place) {
	length := 0.0
	for i := 1; i < len(course); i++ {
		length += distance(course[i-1], course[i])
	}
	between := length / markers
	next := between * (0.1 + 0.9*first)
	gone := 0.0
	for i := 1; i < len(course) && between > 0; i++ {
		a, b := course[i-1], course[i]
		d := distance(a, b)
		for ; next <= gone+d && d > 0; next += between {
			share := (next - gone) / d
			out = append(out, place{a.x + share*(b.x-a.x), a.y + share*(b.y-a.y)})
		}
		gone += d
	}
	return out
}

func distance(a, b place) float64 { return math.Hypot(b.x-a.x, b.y-a.y) }

// thin leaves out places that are hardly away from those before.
func thin(course []place) []place {
	var out []place
	for i, p := range course {
		if i == 0 || i == len(course)-1 || distance(p, out[len(out)-1]) >= 0.7 {
			out = append(out, p)
		}
	}
	return out
}

// key draws the legend, above the frame where it covers nothing.
func (l frame) key(c canvas) {
	for i, line := range l.legend {
		y := 12 + lineHeight*float64(i)
		for _, e := range line {
			from, to := place{e.x, y - 3.5}, place{e.x + legendLine - 6, y - 3.5}
			c.text(label{text: e.series.Name, at: place{e.x + legendLine, y}})
			switch style := e.series.Style; e.series.Form {
			case Shade:
				c.fill([]place{{from.x, y - 8}, {to.x, y - 8}, {to.x, y}, {from.x, y}}, colour(style), shadeOpacity)
			case Plain:
				c.line([]place{from, to}, stroke{colour: colour(style), width: 1})
			case Dots:
				mark(c, style, place{(from.x + to.x) / 2, from.y})
			default:
				c.line([]place{from, to}, stroke{colour(style), 1.5, dashes(style)})
				mark(c, style, place{(from.x + to.x) / 2, from.y})
			}
		}
	}
}
