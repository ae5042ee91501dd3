package bench

import (
	"context"
	"fmt"
	"io"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/testbed"
)

// BringUp is how long a testbed takes to come up and to go.
type BringUp struct {
	Runtime string `json:"runtime"`
	Hosts   int    `json:"hosts"`
	Rounds  int    `json:"rounds"`
	Up      Spread `json:"up_ms"`
	Down    Spread `json:"down_ms"`
}

// Star is what MeasureBringUp brings up and down.
type Star struct {
	Hosts   int         // 2 or more
	Runtime backend.Row // with hosts that stay
}

// MeasureBringUp brings a star of hosts, its switch and its agents up and down,
// rounds times (1 or more).
func MeasureBringUp(ctx context.Context, s Star, rounds int, log io.Writer) (BringUp, error) {
	lab, err := labs.Parse("bench-bringup", fmt.Appendf(nil, "{name: bench-bringup, topology: {kind: star, hosts: %d, rate: 1Gbps}, schemes: [{name: droptail, aqm: droptail}], dilation: 1}", s.Hosts))
	if err != nil {
		return BringUp{}, err
	}
	type round struct{ up, down time.Duration }
	var all []round
	for range rounds {
		start := time.Now()
		t, err := testbed.Up(ctx, lab, testbed.Options{Log: log, Containers: s.Runtime.Containers})
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
		Runtime: s.Runtime.Name,
		Hosts:   s.Hosts,
		Rounds:  rounds,
		Up:      spread(all, func(r round) float64 { return float64(r.up) / 1e6 }),
		Down:    spread(all, func(r round) float64 { return float64(r.down) / 1e6 }),
	}, nil
}
