package sim

import (
	"slices"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
)

// Estimates are kept when they are asked for, change nothing else, and are the
// same each time.
func TestEstimatesOfASimulation(t *testing.T) {
	c := star(3)
	c.Fabric.Port.Scheme, c.Fabric.Port.RTTs = kind.Choice{Kind: "ideal-red"}, aqm.OneRTT(time.Millisecond)
	c.Flows = pushed(flow(0, 0, 1, 400_000), flow(1, 0, 2, 400_000))
	_, calm := simulate(t, c)
	c.Estimates = true
	_, first := simulate(t, c)
	_, second := simulate(t, c)
	if len(calm.Estimates) != 0 || len(first.Estimates) == 0 || !slices.Equal(first.Estimates, second.Estimates) {
		t.Errorf("%d estimates without being asked, %d and %d when asked", len(calm.Estimates), len(first.Estimates), len(second.Estimates))
	}
	if !slices.Equal(calm.Flows, first.Flows) {
		t.Errorf("flows\n%+v\nwith estimates\n%+v", calm.Flows, first.Flows)
	}
	for _, e := range first.Estimates {
		if e.Rate <= 0 || e.Rate > 1e9 || e.Smoothed <= 0 {
			t.Errorf("%+v", e)
		}
	}
}
