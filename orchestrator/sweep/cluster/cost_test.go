package cluster

import (
	"slices"
	"testing"
	"time"

	"aqmlab/orchestrator/sweep/sweeptest"
)

// TestParts: chunks take equally long, and no longer than asked.
func TestParts(t *testing.T) {
	w := sweeptest.Expand(t, "workload.flows=10,1000") // 4 points of each
	units := w.Units(w.Points)
	var c costs
	c.learn(units[:1], []time.Duration{time.Second}) // 10 flows
	if got := c.of(units[len(units)-1]).Round(time.Millisecond); got != 100*time.Second {
		t.Errorf("1000 flows take %v, want 100 times as long", got)
	}
	for _, c := range []struct {
		chunk time.Duration
		want  []int // points of the chunks
	}{
		{time.Hour, []int{8}},
		{210 * time.Second, []int{6, 2}},
		{time.Second, []int{1, 1, 1, 1, 1, 1, 1, 1}},
		{0, []int{1, 1, 1, 1, 1, 1, 1, 1}},
	} {
		var costs costs
		costs.learn(units[:1], []time.Duration{time.Second})
		var got []int
		for _, part := range costs.parts(units, c.chunk) {
			got = append(got, len(part))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("chunks of %v: %v points, want %v", c.chunk, got, c.want)
		}
	}
}
