package results

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// axis maps values onto pixels of a drawing.
type axis struct {
	low, high float64 // values at the ends
	from, to  float64 // pixels there
	log       bool
}

// tick is a labelled place on an axis.
type tick struct {
	At   string // pixels
	Text string
}

// linear is an axis from a round number at or below low to one at or above
// high.
func linear(low, high, from, to float64) axis {
	if high <= low {
		high = low + 1
	}
	s := step(low, high)
	return axis{low: math.Floor(low/s) * s, high: math.Ceil(high/s) * s, from: from, to: to}
}

// logarithmic is an axis over whole decades. low is above zero.
func logarithmic(low, high, from, to float64) axis {
	a := axis{low: math.Pow(10, math.Floor(math.Log10(low))), high: math.Pow(10, math.Ceil(math.Log10(high))), from: from, to: to, log: true}
	if a.high <= a.low {
		a.high = a.low * 10
	}
	return a
}

// step is the distance between about five ticks: 1, 2 or 5 times a power of
// ten.
func step(low, high float64) float64 {
	raw := (high - low) / 5
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*power*1.0001 {
			return m * power
		}
	}
	return 10 * power
}

func (a axis) at(v float64) float64 {
	share := (v - a.low) / (a.high - a.low)
	if a.log {
		share = math.Log(v/a.low) / math.Log(a.high/a.low)
	}
	return a.from + share*(a.to-a.from)
}

func (a axis) ticks() []tick {
	var ticks []tick
	if a.log {
		for v := a.low; v <= a.high*1.01; v *= 10 {
			ticks = append(ticks, tick{pixels(a.at(v)), strconv.FormatFloat(v, 'f', -1, 64)})
		}
		return ticks
	}
	s := step(a.low, a.high)
	for i := range int(math.Round((a.high-a.low)/s)) + 1 {
		v := a.low + float64(i)*s
		ticks = append(ticks, tick{pixels(a.at(v)), trim(v)})
	}
	return ticks
}

// trim prints a tick's value without the noise of binary fractions.
func trim(v float64) string {
	s := strconv.FormatFloat(v, 'f', 6, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

func pixels(v float64) string { return fmt.Sprintf("%.1f", v) }
