package figure

import "math"

// The opacities of the lowest and of the highest value, over which text is legible on
// light and on dark paper.
const (
	palest  = 0.04
	deepest = 0.62
)

// heatColour is the colour of all shades: one hue, so that lightness alone tells.
const heatColour = 1

// shade draws the fields, and a key above them.
func (l frame) shade(c canvas, h *Heat) {
	if h == nil || len(h.Fields) == 0 {
		return
	}
	low, high := h.ends()
	for _, f := range h.Fields {
		end := c.group("field", f.Note)
		l.field(c, f, h.opacity(f.Value, low, high))
		end()
	}
	for _, f := range h.Fields {
		if f.Framed { // above the fields beside it
			around := l.outline(f)
			c.line(append(around, around[0]), stroke{colour: ink, width: 1.6})
		}
	}
	l.heatKey(c, low, high)
}

// ends are the fields of the lowest and of the highest value.
func (h Heat) ends() (low, high Field) {
	low, high = h.Fields[0], h.Fields[0]
	for _, f := range h.Fields {
		if f.Value < low.Value {
			low = f
		}
		if f.Value > high.Value {
			high = f
		}
	}
	return low, high
}

// opacity of a value between those of the ends.
func (h Heat) opacity(v float64, low, high Field) float64 {
	from, to := low.Value, high.Value
	if h.Log {
		v, from, to = math.Log(v), math.Log(from), math.Log(to)
	}
	if to <= from {
		return palest
	}
	return palest + (deepest-palest)*(v-from)/(to-from)
}

// outline is the corners of a field.
func (l frame) outline(f Field) []place {
	x, y := float64(f.Column), float64(f.Row)
	left, right, top, bottom := l.x.at(x-0.5), l.x.at(x+0.5), l.y.at(y-0.5), l.y.at(y+0.5)
	return []place{{left, top}, {right, top}, {right, bottom}, {left, bottom}}
}

func (l frame) field(c canvas, f Field, opacity float64) {
	around := l.outline(f)
	c.fill(around, heatColour, opacity)
	if wide := around[1].x - around[0].x; textWidth(f.Text) <= wide {
		c.text(label{text: f.Text, at: place{around[0].x + wide/2, (around[0].y+around[2].y)/2 + 3.5}, anchor: 0.5})
	}
}

// heatKey is a scale of shades between the lowest and the highest value.
func (l frame) heatKey(c canvas, low, high Field) {
	const steps, wide = 12, 8.0
	x, y := l.left, 12.0
	c.text(label{text: low.Text, at: place{x, y}})
	x += textWidth(low.Text) + 5
	for i := range steps {
		share := float64(i) / (steps - 1)
		from := x + wide*float64(i)
		c.fill([]place{{from, y - 8}, {from + wide, y - 8}, {from + wide, y}, {from, y}}, heatColour, palest+share*(deepest-palest))
	}
	c.text(label{text: high.Text, at: place{x + steps*wide + 5, y}})
}
