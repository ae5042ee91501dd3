package testbed

import (
	"testing"
	"time"
)

// TestUsage: of the CPUs' time only what the lab has used counts.
func TestUsage(t *testing.T) {
	before := Usage{Lab: time.Second, Total: 10 * time.Second}
	for _, tt := range []struct {
		after Usage
		want  float64
	}{
		{Usage{Lab: 2 * time.Second, Total: 14 * time.Second}, 0.25},
		{Usage{Lab: 9 * time.Second, Total: 12 * time.Second}, 1},
		{before, 0},
	} {
		if got := tt.after.since(before); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.after, got, tt.want)
		}
	}
}
