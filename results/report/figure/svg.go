package figure

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
	"strings"
)

// SVG is the figure as an SVG document, which is also what a page has between
// its tags. Colours stand in attributes, so that every program shows them, and
// have classes, by which a page may change them: ink, faint, s0 to s7 for the
// strokes, and the same with "f-" before them for what is filled. The groups of
// series have the class "series", those of points with intervals "point".
func (f Figure) SVG() []byte {
	var d svg
	fmt.Fprintf(&d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-label="%s" font-family="Helvetica, Arial, 'Liberation Sans', sans-serif" font-size="%v">`,
		number(width), number(f.layout().height), number(width), number(f.layout().height), html.EscapeString(f.About), textSize)
	f.draw(&d)
	d.WriteString("\n</svg>\n")
	return d.Bytes()
}

// svg is a canvas that is a document.
type svg struct{ bytes.Buffer }

var _ canvas = (*svg)(nil)

func (d *svg) line(points []place, s stroke) {
	dash := ""
	if len(s.dashes) > 0 {
		dash = ` stroke-dasharray="` + strings.Trim(fmt.Sprint(s.dashes), "[]") + `"`
	}
	fmt.Fprintf(d, "\n"+`<path class="%s" d="%s" fill="none" stroke="%s" stroke-width="%v" stroke-linejoin="round"%s/>`,
		class(s.colour), course(points), hex(s.colour), s.width, dash)
}

func (d *svg) fill(points []place, colour int, opacity float64) {
	see := ""
	if opacity < 1 {
		see = fmt.Sprintf(` fill-opacity="%v"`, opacity)
	}
	fmt.Fprintf(d, "\n"+`<path class="f-%s" d="%sZ" fill="%s"%s/>`, class(colour), course(points), hex(colour), see)
}

func (d *svg) text(l label) {
	turn, anchor := "", [...]string{"start", "middle", "end"}[int(l.anchor*2)]
	if l.up {
		turn = fmt.Sprintf(` transform="rotate(-90 %s %s)"`, number(l.at.x), number(l.at.y))
	}
	fmt.Fprintf(d, "\n"+`<text class="f-ink" x="%s" y="%s" text-anchor="%s" fill="%s"%s>%s</text>`,
		number(l.at.x), number(l.at.y), anchor, hex(ink), turn, html.EscapeString(l.text))
}

func (d *svg) group(class, note string) (end func()) {
	fmt.Fprintf(d, "\n<g class=\"%s\">", class)
	if note != "" {
		fmt.Fprintf(d, "<title>%s</title>", html.EscapeString(note))
	}
	return func() { d.WriteString("\n</g>") }
}

func class(colour int) string {
	switch colour {
	case ink:
		return "ink"
	case faint:
		return "faint"
	}
	return "s" + strconv.Itoa(colour)
}

func hex(colour int) string { return fmt.Sprintf("#%02x", palette(colour)) }

// course is a path through places.
func course(points []place) string {
	var b strings.Builder
	for i, p := range points {
		verb := byte('L')
		if i == 0 {
			verb = 'M'
		}
		b.WriteByte(verb)
		b.WriteString(number(p.x))
		b.WriteByte(' ')
		b.WriteString(number(p.y))
	}
	return b.String()
}

// number prints a place to a tenth.
func number(v float64) string { return trim(v, 1) }
