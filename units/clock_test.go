package units_test

import (
	"testing"
	"time"

	"aqmlab/units"
)

// A full frame at 100 Gbps takes 123.04 ns: 25 of them, back to back, take 3076
// ns, which rounding each would make 3075.
func TestClockKeepsFractions(t *testing.T) {
	var c units.Clock
	var at time.Duration
	for i := range 25 {
		at = c.Transmit(at, 1538, 100*units.Gbps, i > 0)
	}
	if at != 3076 {
		t.Errorf("25 frames took %d ns, want 3076", at)
	}
}

func TestClockStartsAfreshAfterAPause(t *testing.T) {
	var c units.Clock
	const rate = 3 * units.Gbps // a byte takes 2 2/3 ns
	if at := c.Transmit(0, 1, rate, false); at != 2 {
		t.Fatalf("the first byte was sent at %d ns, want 2", at)
	}
	if at := c.Transmit(100, 1, rate, false); at != 102 {
		t.Errorf("a byte after a pause was sent at %d ns, want 102", at)
	}
	if at := c.Transmit(102, 1, rate, true); at != 105 {
		t.Errorf("the byte back to back was sent at %d ns, want 105", at)
	}
}

// Over many frames the clock is never off by a nanosecond.
func TestClockDoesNotDrift(t *testing.T) {
	var c units.Clock
	var at time.Duration
	const rate, size = 7 * units.Gbps, 1538
	for i := range int64(700_000) {
		at = c.Transmit(at, size, rate, i > 0)
		if want := (i + 1) * size * 8e9 / int64(rate); int64(at) != want {
			t.Fatalf("frame %d was sent at %d ns, want %d", i, at, want)
		}
	}
}
