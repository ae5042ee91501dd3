package testbed

import (
	"testing"
	"time"
)

// TestUsage: of the CPUs' time only what the lab has used counts.
func TestUsage(t *testing.T) {
	before := usage{lab: time.Second, total: 10 * time.Second}
	for _, tt := range []struct {
		after usage
		want  float64
	}{
		{usage{lab: 2 * time.Second, total: 14 * time.Second}, 0.25},
		{usage{lab: 9 * time.Second, total: 12 * time.Second}, 1},
		{before, 0},
	} {
		if got := tt.after.since(before); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.after, got, tt.want)
		}
	}
}
