package transport

import "time"

// Prague are the parameters of Prague (draft-briscoe-iccrg-prague-congestion-control).
type Prague struct {
	G            float64       `lab:"g" only:"modelled" range:"(0, 1]" doc:"weight of the newest round trip in the estimate of how much is marked"`
	InitialAlpha float64       `lab:"initial_alpha" only:"modelled" range:"[0, 1]" doc:"the estimate before the first mark"`
	MinWindow    int           `lab:"min_window" only:"modelled" range:"1..1000000" doc:"segments below which nothing takes the window"`
	VirtualRTT   time.Duration `lab:"virtual_rtt" only:"modelled" range:"0s..10s" doc:"round-trip time as which flows with a shorter one come to behave; 0s for the real one, which networks of one building want"`
	Transition   int           `lab:"transition" only:"modelled" range:"0..1000000000" doc:"round trips after slow start from which the virtual round-trip time holds"`
	Burst        time.Duration `lab:"burst" only:"modelled" range:"0s..1s" doc:"longest that data sent back to back would take at the rate of the flow, but no longer than an eighth of the RTT; 0s paces every segment"`
}

// DefaultPrague is what the draft and its reference implementation set.
func DefaultPrague() Prague {
	return Prague{
		G:            1.0 / 16,
		InitialAlpha: 1,
		MinWindow:    2,
		VirtualRTT:   25 * time.Millisecond,
		Transition:   500,
		Burst:        250 * time.Microsecond,
	}
}

func newPrague(Prague, struct{}) (Transport, error) {
	return Transport{Name: "prague", ECN: true, Modelled: true}, nil
}
