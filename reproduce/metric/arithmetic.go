package metric

import (
	"math"

	"aqmlab/switch/aqm"
)

// Difference is that of b from a in percent; none when both are zero.
func Difference(a, b float64) float64 {
	if a == b {
		return 0
	}
	return (b/a - 1) * 100
}

func stampWrap() (from, to float64) {
	stamp, _ := aqm.TofinoClockWraps()
	return 0, stamp.Seconds()
}

func clockWrap() (from, to float64) {
	_, whole := aqm.TofinoClockWraps()
	return 0, whole.Seconds()
}

// registerMemory is that of the arrays which the paper counts for its ports (ECN#, section
// 4): five of 32 bits and two of 64.
func registerMemory() (from, to float64) {
	const ports, bits, bitsPerKB = 128, 5*32 + 2*64, 8000
	return 0, ports * bits / float64(bitsPerKB)
}

// The table is drawn for this interval, in ticks, up to so many marks (ECN#, Fig. 6).
const (
	drawnInterval = 1000
	drawnMarks    = 400
)

func quotient() (from, to float64) {
	var off float64
	for marks := range uint32(drawnMarks) {
		exact, table := drawnInterval/float64(marks+1), float64(aqm.TofinoQuotient(drawnInterval, marks+1))
		off += math.Abs(Difference(exact, table))
	}
	return 100, 100 + off/drawnMarks
}
