package figure

import (
	"bytes"
	"fmt"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/goregular"
)

// points is how many of a PDF's points an SVG's pixel is.
const points = 72.0 / 96

// PDF is the figure as a document of one page of its size. Its font, Go
// Regular, is part of it, as publishers ask. Equal figures are equal documents.
func (f Figure) PDF() ([]byte, error) {
	size := fpdf.SizeType{Wd: width * points, Ht: f.layout().height * points}
	// "P" takes the size as it is, also where it is wider than high.
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", OrientationStr: "P", Size: size})
	doc.SetCatalogSort(true)
	doc.SetCreationDate(time.Unix(0, 0).UTC())
	doc.SetModificationDate(time.Unix(0, 0).UTC())
	doc.SetTitle(f.Title, true)
	doc.SetAutoPageBreak(false, 0)
	doc.AddUTF8FontFromBytes("go", "", goregular.TTF)
	doc.AddPage()
	// Go Regular is wider than Helvetica.
	doc.SetFont("go", "", 0.93*textSize*points)
	doc.SetLineJoinStyle("round")
	f.draw(pdf{doc})
	var b bytes.Buffer
	if err := doc.Output(&b); err != nil {
		return nil, fmt.Errorf("drawing %s as PDF: %w", f.Name, err)
	}
	return b.Bytes(), nil
}

// pdf is a canvas that is a page.
type pdf struct{ *fpdf.Fpdf }

var _ canvas = pdf{}

func (d pdf) line(places []place, s stroke) {
	c := palette(s.colour)
	d.SetDrawColor(int(c[0]), int(c[1]), int(c[2]))
	d.SetLineWidth(s.width * points)
	dashes := make([]float64, len(s.dashes))
	for i, v := range s.dashes {
		dashes[i] = v * points
	}
	d.SetDashPattern(dashes, 0)
	d.course(places)
	d.DrawPath("D")
}

// fill blends with white paper what is not opaque: transparency makes printers
// and publishers trouble.
func (d pdf) fill(places []place, colour int, opacity float64) {
	var c [3]int
	for i, v := range palette(colour) {
		c[i] = int(opacity*float64(v) + (1-opacity)*255)
	}
	d.SetFillColor(c[0], c[1], c[2])
	d.course(places)
	d.ClosePath()
	d.DrawPath("F")
}

func (d pdf) course(places []place) {
	for i, p := range places {
		if i == 0 {
			d.MoveTo(p.x*points, p.y*points)
		} else {
			d.LineTo(p.x*points, p.y*points)
		}
	}
}

func (d pdf) text(l label) {
	c := palette(ink)
	d.SetTextColor(int(c[0]), int(c[1]), int(c[2]))
	x, y := l.at.x*points, l.at.y*points
	if l.up {
		d.TransformBegin()
		d.TransformRotate(90, x, y)
		defer d.TransformEnd()
	}
	d.Text(x-l.anchor*d.GetStringWidth(l.text), y, l.text)
}

func (d pdf) group(string, string) (end func()) { return func() {} }
