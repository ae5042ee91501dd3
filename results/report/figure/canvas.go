package figure

// place is a point of a drawing, from its top left corner.
type place struct{ x, y float64 }

// stroke is an open line.
type stroke struct {
	colour int
	width  float64
	dashes []float64
}

// label is a piece of text.
type label struct {
	text   string
	at     place   // on the base line
	anchor float64 // the share of the text that is left of it: 0, 0.5 or 1
	up     bool    // it reads upwards
}

// canvas is what figures are drawn on.
type canvas interface {
	line(points []place, s stroke)
	fill(points []place, colour int, opacity float64)
	text(l label)
	// group begins what belongs to a series or one of its points, with a note
	// that may be empty. It ends when the function returned is called.
	group(class, note string) (end func())
}

// hair is how grids, ticks and frames are drawn.
func hair(colour int) stroke { return stroke{colour: colour, width: 0.7} }
