package results

import (
	"math"
	"time"
)

// Low tells whether the run is labelled low-fidelity.
func (f Fidelity) Low() bool { return f.Label == FidelityLow }

// WorstOf returns the less faithful of two: low-fidelity before ok before
// exact, and of one label the later one.
func WorstOf(a, b Fidelity) Fidelity {
	if d := severity(b.Label) - severity(a.Label); d > 0 || d == 0 && b.LatenessP99 > a.LatenessP99 {
		return b
	}
	return a
}

func severity(label string) int {
	switch label {
	case FidelityExact:
		return 1
	case FidelityOK:
		return 2
	case FidelityLow:
		return 3
	}
	return 0
}

// Microseconds is a time in microseconds.
func Microseconds(d time.Duration) float64 { return float64(d) / 1e3 }

func fromMicros(us float64) time.Duration { return time.Duration(math.Round(us * 1e3)) }
