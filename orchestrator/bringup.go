package orchestrator

import (
	"context"
	"fmt"
	"io"
	"time"

	"aqmlab/labs"
)

// BringUp is how long a testbed takes to come up and to go.
type BringUp struct {
	Hosts  int    `json:"hosts"`
	Rounds int    `json:"rounds"`
	Up     Spread `json:"up_ms"`
	Down   Spread `json:"down_ms"`
}

// BenchBringUp brings a star of hosts, its switch and its agents up and down,
// rounds times (1 or more).
func BenchBringUp(ctx context.Context, hosts, rounds int, log io.Writer) (BringUp, error) {
	lab, err := labs.Parse("bench-bringup", fmt.Appendf(nil, "{name: bench-bringup, topology: {kind: star, hosts: %d, rate: 1Gbps}, schemes: [{name: droptail, aqm: droptail}], dilation: 1}", hosts))
	if err != nil {
		return BringUp{}, err
	}
	type round struct{ up, down time.Duration }
	var all []round
	for range rounds {
		start := time.Now()
		t, err := Up(ctx, lab, Options{Log: log})
		if err != nil {
			return BringUp{}, err
		}
		up := time.Now()
		if err := t.Down(ctx); err != nil {
			return BringUp{}, err
		}
		all = append(all, round{up.Sub(start), time.Since(up)})
	}
	return BringUp{
		Hosts:  hosts,
		Rounds: rounds,
		Up:     spread(all, func(r round) float64 { return float64(r.up) / 1e6 }),
		Down:   spread(all, func(r round) float64 { return float64(r.down) / 1e6 }),
	}, nil
}
