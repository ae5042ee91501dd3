package testbed

import (
	"context"
	"slices"

	"aqmlab/results"
)

// sight is what has been seen of a replay that is going on.
type sight struct {
	flows   []results.Flow          // that completed
	samples [][]results.QueueSample // of each switch
}

// See looks at the replay that is going on. Times of queues count from the start
// of their switch.
func (t *Testbed) See(ctx context.Context) (results.Seen, error) {
	if t.sight.samples == nil {
		t.sight.samples = make([][]results.QueueSample, len(t.switches))
	}
	err := t.switches.each(func(i int, c crew) error {
		var more []results.QueueSample
		err := c.Call(ctx, "Recent", len(t.sight.samples[i]), &more)
		t.sight.samples[i] = append(t.sight.samples[i], more...)
		return err
	})
	if err != nil {
		return results.Seen{}, err
	}
	return results.See(t.sight.flows, slices.Concat(t.sight.samples...)), nil
}
