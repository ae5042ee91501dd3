package figure

import (
	"math"
	"strconv"
	"strings"
)

// Axis is one of a figure's two axes.
type Axis struct {
	Title     string  // what it measures, with its unit
	Low, High float64 // the values that it covers at least; on a logarithmic axis above zero
	Log       bool
	Rows      []string // of a Y axis: names that stand for the values 0, 1, ... from the top
	Columns   []string // of an X axis: names that stand for the values 0, 1, ... from the left
}

// scale maps values onto places of a drawing.
type scale struct {
	low, high float64 // values at the ends
	from, to  float64 // places there
	step      float64 // between ticks, unless log
	log       bool
}

// tick is a place on an axis; one without text is a minor one.
type tick struct {
	at   float64
	text string
}

// scale is the axis between two places.
func (a Axis) scale(from, to float64) scale {
	if n := len(a.Columns); n > 0 {
		return scale{low: -0.5, high: float64(n) - 0.5, from: from, to: to}
	}
	if a.Log {
		return logarithmic(a.Low, a.High, from, to)
	}
	return linear(a.Low, a.High, from, to)
}

// columnTicks are the names of the columns, as many as fit beside each other.
func (a Axis) columnTicks(s scale) []tick {
	widest := 0.0
	for _, name := range a.Columns {
		widest = max(widest, textWidth(name))
	}
	every := max(1, int(math.Ceil((widest+4)*float64(len(a.Columns))/math.Abs(s.to-s.from))))
	var ticks []tick
	for i := 0; i < len(a.Columns); i += every {
		ticks = append(ticks, tick{s.at(float64(i)), a.Columns[i]})
	}
	return ticks
}

// linear is a scale from a round number at or below low to one at or above
// high.
func linear(low, high, from, to float64) scale {
	if high <= low {
		high = low + 1
	}
	for d := step(low, high); ; {
		s := scale{low: math.Floor(low/d+1e-9) * d, high: math.Ceil(high/d-1e-9) * d, from: from, to: to, step: d}
		wider := step(s.low, s.high) // round numbers may lie so far apart that they want fewer ticks
		if wider <= d*near {
			return s
		}
		d = wider
	}
}

// logarithmic is a scale between numbers that are 1, 2 or 5 times a power of
// ten. low is above zero.
func logarithmic(low, high, from, to float64) scale {
	s := scale{low: roundDown(low), from: from, to: to, log: true}
	s.high = roundUp(max(high, s.low*2))
	return s
}

// near bears with the errors of binary fractions.
const near = 1 + 1e-9

// roundDown is the largest of the numbers 1, 2 and 5 times a power of ten that
// is at most v, and roundUp the smallest that is at least v.
func roundDown(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v*near)))
	for _, m := range []float64{5, 2} {
		if m*power <= v*near {
			return m * power
		}
	}
	return power
}

func roundUp(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v*near)))
	for _, m := range []float64{1, 2, 5} {
		if m*power*near >= v {
			return m * power
		}
	}
	return 10 * power
}

// step is the distance between about five ticks: 1, 2 or 5 times a power of
// ten.
func step(low, high float64) float64 { return roundUp((high - low) / 5 / 1.0001) }

func (s scale) at(v float64) float64 {
	share := (v - s.low) / (s.high - s.low)
	if s.log {
		share = math.Log(v/s.low) / math.Log(s.high/s.low)
	}
	return s.from + share*(s.to-s.from)
}

func (s scale) ticks() []tick {
	if s.log {
		return s.decades()
	}
	var ticks []tick
	for i := range int(math.Round((s.high-s.low)/s.step)) + 1 {
		v := s.low + float64(i)*s.step
		ticks = append(ticks, tick{s.at(v), trim(v, 6)})
	}
	return ticks
}

// decades are ticks at 1 to 9 times every power of ten. The powers have a text;
// over less than two decades so have 2 and 5 times them.
func (s scale) decades() []tick {
	var ticks []tick
	short := s.high/s.low < 100/near
	power := math.Pow(10, math.Floor(math.Log10(s.low*near)))
	for ; power <= s.high*near; power *= 10 {
		for m := 1; m <= 9; m++ {
			v := float64(m) * power
			if v*near < s.low || v > s.high*near {
				continue
			}
			t := tick{at: s.at(v)}
			if m == 1 || short && (m == 2 || m == 5) {
				t.text = trim(v, 6)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// trim prints a value with at most so many decimals, which leaves out the noise of
// binary fractions.
func trim(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

// textSize is in the units of the size of a figure.
const textSize = 10.5

// textWidth is about how wide a text is: a little more, in the fonts that
// browsers take for Helvetica.
func textWidth(s string) float64 { return 0.56 * textSize * float64(len([]rune(s))) }
