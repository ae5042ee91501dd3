package figure

import "math"

// The roles of colours. Those of series come first, by their number.
const (
	ink   = colours + iota // text, frames
	faint                  // grids
)

// colours is how many colours series have.
const colours = 8

// palette holds red, green and blue by role: Okabe and Ito's colours, which keep
// apart under colour blindness, with grey for their yellow, which white paper
// swallows.
func palette(role int) [3]uint8 {
	return [...][3]uint8{
		{0x00, 0x00, 0x00}, {0x00, 0x72, 0xB2}, {0xD5, 0x5E, 0x00}, {0x00, 0x9E, 0x73},
		{0xCC, 0x79, 0xA7}, {0xE6, 0x9F, 0x00}, {0x56, 0xB4, 0xE9}, {0x80, 0x80, 0x80},
		ink: {0x1A, 0x1A, 0x1A}, faint: {0xD9, 0xD9, 0xD9},
	}[role]
}

// colour is that of a style.
func colour(style int) int { return style % colours }

// dashes are the lengths of a style's dashes and gaps; none for an unbroken
// line.
func dashes(style int) []float64 {
	return [...][]float64{nil, {7, 3}, {2, 2}, {9, 3, 2, 3}, {5, 2}, {12, 4}, {3, 4}, {8, 2, 2, 2, 2, 2}}[style%colours]
}

// marker is the outline of a style's marker around the origin. The styles of one
// colour have different ones.
func marker(style int) []place {
	const r = 3.2
	shapes := [...]func() []place{
		func() []place { return regular(10, r, 0) },                                   // disc
		func() []place { return regular(4, r*1.3, math.Pi/4) },                        // square
		func() []place { return regular(3, r*1.35, -math.Pi/2) },                      // triangle
		func() []place { return regular(4, r*1.35, 0) },                               // diamond
		func() []place { return regular(3, r*1.35, math.Pi/2) },                       // triangle that hangs
		func() []place { return star(4, r*1.5, r*0.5, math.Pi/4) },                    // cross
		func() []place { return star(5, r*1.5, r*0.6, -math.Pi/2) },                   // star
		func() []place { return []place{{-r, -1.2}, {r, -1.2}, {r, 1.2}, {-r, 1.2}} }, // bar
	}
	return shapes[(style+style/colours)%colours]()
}

// regular is a polygon with n corners at a distance, the first in a direction.
func regular(n int, r, from float64) []place { return star(n, r, r*math.Cos(math.Pi/float64(n)), from) }

// star is a polygon whose corners are by turns far and near.
func star(n int, far, near, from float64) []place {
	out := make([]place, 0, 2*n)
	for i := range 2 * n {
		r := far
		if i%2 == 1 {
			r = near
		}
		sin, cos := math.Sincos(from + math.Pi*float64(i)/float64(n))
		out = append(out, place{r * cos, r * sin})
	}
	return out
}
