package role

import (
	"testing"
	"time"
)

// TestTogether: connections are measured one after another unless their round trips leave
// room between two segments.
func TestTogether(t *testing.T) {
	for rtt, want := range map[time.Duration]int{
		0: 1, 250 * time.Microsecond: 1, 2 * time.Millisecond: 1, 40 * time.Millisecond: 20, time.Second: 64,
	} {
		if got := together(rtt); got != want {
			t.Errorf("%v: %d, want %d", rtt, got, want)
		}
	}
}
