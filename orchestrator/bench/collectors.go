package bench

import (
	"context"
	"errors"
	"fmt"
	"io"

	"aqmlab/labs"
	"aqmlab/orchestrator/testbed"
	"aqmlab/results"
)

// CollectorsCost compares the switch with and without what a run collects beside
// its flows, in turns in one run.
type CollectorsCost struct {
	Machine results.Machine `json:"machine"`
	Rounds  int             `json:"rounds"`
	// One long flow, forwarding only, at 100 Gbps.
	WithoutGbps Spread `json:"without_gbps"`
	WithGbps    Spread `json:"with_gbps"`
	Ratio       Spread `json:"ratio"` // with over without, of each round's two turns
}

// collectedLab is forwardLab with its queues and services sampled, over the two
// seconds of its flow, as often as runs do without being told.
const collectedLab = forwardLab + "collect: {queues: 1ms}\n"

// MeasureCollectors measures rounds times (1 or more). It needs a quiet machine.
func MeasureCollectors(ctx context.Context, rounds int, log io.Writer) (CollectorsCost, error) {
	without, err := labs.Parse("bench-forward", []byte(forwardLab))
	if err != nil {
		return CollectorsCost{}, err
	}
	with, err := labs.Parse("bench-collected", []byte(collectedLab))
	if err != nil {
		return CollectorsCost{}, err
	}
	t, err := testbed.Up(ctx, without, testbed.Options{Log: log})
	if err != nil {
		return CollectorsCost{}, err
	}
	b := bench{Testbed: t}
	c, err := b.collectors(ctx, rounds, forwardBytes, [2]*labs.Lab{without, with})
	if err = errors.Join(err, t.Down(context.WithoutCancel(ctx))); err != nil {
		return CollectorsCost{}, fmt.Errorf("measuring what collectors cost: %w", err)
	}
	return c, nil
}

// collectors measures without and with them. Who is first changes from round to
// round, so that what the machine does over time favours neither.
func (b *bench) collectors(ctx context.Context, rounds int, bytes int64, labs [2]*labs.Lab) (CollectorsCost, error) {
	pairs := make([][2]sample, rounds)
	for round := range pairs {
		for turn := range labs {
			i := (round + turn) % 2
			s, m, err := b.switched(ctx, labs[i], bytes)
			if err != nil {
				return CollectorsCost{}, err
			}
			if collected := len(m.Queues) > 0; collected != (i == 1) {
				return CollectorsCost{}, fmt.Errorf("%d samples of queues in a turn that collects: %v", len(m.Queues), i == 1)
			}
			pairs[round][i] = s
		}
	}
	return CollectorsCost{
		Machine:     results.ThisMachine(),
		Rounds:      rounds,
		WithoutGbps: spread(pairs, func(p [2]sample) float64 { return p[0].gbps }),
		WithGbps:    spread(pairs, func(p [2]sample) float64 { return p[1].gbps }),
		Ratio:       spread(pairs, func(p [2]sample) float64 { return p[1].gbps / p[0].gbps }),
	}, nil
}
