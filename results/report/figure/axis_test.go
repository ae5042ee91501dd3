package figure

import (
	"math"
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	texts := func(s scale) (out []string) {
		for _, k := range s.ticks() {
			if k.text != "" {
				out = append(out, k.text)
			}
		}
		return out
	}
	for _, c := range []struct {
		name  string
		scale scale
		want  string
	}{
		{"unit", linear(0, 1, 0, 100), "0 0.2 0.4 0.6 0.8 1"},
		{"ratio", linear(0.37, 1.13, 0, 100), "0.2 0.4 0.6 0.8 1 1.2"},
		{"wider than its values", linear(0.955, 1.055, 0, 100), "0.95 1 1.05 1.1"},
		{"thousands", linear(0, 98_000, 0, 100), "0 20000 40000 60000 80000 100000"},
		{"around zero", linear(-3, 4, 0, 100), "-4 -2 0 2 4"},
		{"no range", linear(5, 5, 0, 100), "5 5.2 5.4 5.6 5.8 6"},
		{"decades", logarithmic(70, 12_000, 0, 100), "100 1000 10000"},
		{"less than two", logarithmic(70, 1200, 0, 100), "50 100 200 500 1000 2000"},
		{"within one", logarithmic(2, 3, 0, 100), "2 5"},
		{"one value", logarithmic(10, 10, 0, 100), "10 20"},
		{"below one", logarithmic(0.03, 30, 0, 100), "0.1 1 10"},
	} {
		if got := strings.Join(texts(c.scale), " "); got != c.want {
			t.Errorf("%s: ticks %s, want %s", c.name, got, c.want)
		}
	}
}

// Ticks stand at multiples of their distance, one at each end, and are few.
func TestTicksAreRound(t *testing.T) {
	for low := -1.7; low < 2; low += 0.0137 {
		for _, length := range []float64{0.011, 0.1, 0.12, 0.55, 1, 1.02, 3, 40} {
			s := linear(low, low+length, 0, 100)
			ticks := s.ticks()
			if off := math.Abs(math.Remainder(s.low, s.step)); off > 1e-6*s.step {
				t.Errorf("%v to %v: ticks every %v from %v", low, low+length, s.step, s.low)
			}
			if n := len(ticks); n < 3 || n > 8 || math.Abs(ticks[n-1].at-100) > 1e-6 {
				t.Errorf("%v to %v: %d ticks, the last one at %v of 100", low, low+length, n, ticks[n-1].at)
			}
		}
	}
}

// A decade has nine ticks, named or not.
func TestMinorTicks(t *testing.T) {
	if n := len(logarithmic(1, 1000, 0, 100).ticks()); n != 3*9+1 {
		t.Errorf("%d ticks over three decades, want 28", n)
	}
}

// An axis holds its values, and is not much longer.
func TestScalesHoldTheirValues(t *testing.T) {
	for low := 0.001; low < 1e6; low *= 1.7 {
		for _, ratio := range []float64{1, 1.3, 2, 9.99, 10, 12345} {
			high := low * ratio
			s := logarithmic(low, high, 0, 1)
			if s.low > low*near || s.high*near < high || s.low < low/2.5/near || s.high > high*5*near {
				t.Errorf("%v to %v: axis from %v to %v", low, high, s.low, s.high)
			}
			if l := linear(low, high, 0, 1); l.low > low || l.high < high*(1-1e-9) {
				t.Errorf("%v to %v: linear axis from %v to %v", low, high, l.low, l.high)
			}
		}
	}
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		scale    scale
		v, place float64
	}{
		{linear(0, 1, 10, 110), 0.25, 35},
		{linear(0, 1, 110, 10), 0.25, 85}, // upwards
		{logarithmic(1, 1000, 0, 300), 10, 100},
	} {
		if got := c.scale.at(c.v); math.Abs(got-c.place) > 1e-9 {
			t.Errorf("%g is at %g, want %g", c.v, got, c.place)
		}
	}
}
