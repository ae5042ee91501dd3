package transport

import (
	"time"

	"aqmlab/kind"
)

// Swift are the parameters of Swift (Kumar et al., Swift: Delay is Simple and Effective
// for Congestion Control in the Datacenter, SIGCOMM 2020, algorithm 1 and section 3.5).
type Swift struct {
	AI         float64       `lab:"ai" only:"modelled" range:"(0, 1000]" doc:"segments that the window grows by in a round trip with a delay below the target"`
	Beta       float64       `lab:"beta" only:"modelled" range:"(0, 1]" doc:"share of the part of the delay beyond the target that the window is cut by"`
	MaxMDF     float64       `lab:"max_mdf" only:"modelled" range:"(0, 1)" doc:"largest share of the window that is cut at once, and the share for a loss"`
	BaseTarget time.Duration `lab:"base_target" only:"modelled" range:"0s..10s" doc:"delay to aim at with large windows, the base RTT included; 0s: the shortest RTT that the connection measured, but at most the longest base RTT of the lab with transmission, and a share headroom more"`
	Headroom   float64       `lab:"headroom" only:"modelled" range:"(0, 10]" doc:"of base_target: 0s"`
	FSRange    time.Duration `lab:"fs_range" only:"modelled" range:"0s..10s" doc:"by how much the target is longer with the smallest windows (flow scaling); 0s: as long as base_target"`
	FSMinCwnd  float64       `lab:"fs_min_cwnd" only:"modelled" range:"(0, 1000000]" doc:"window in segments up to which the target is the longest"`
	FSMaxCwnd  float64       `lab:"fs_max_cwnd" only:"modelled" range:"(0, 1000000]" doc:"window in segments from which the target is the base target; above fs_min_cwnd"`
	MinCwnd    float64       `lab:"min_cwnd" only:"modelled" range:"(0, 1]" doc:"smallest window in segments; below 1, segments are as far apart as the window says"`
	MaxCwnd    float64       `lab:"max_cwnd" only:"modelled" range:"[1, 1000000]" doc:"largest window in segments"`
	RetxReset  int           `lab:"retx_reset" only:"modelled" range:"1..1000" doc:"timeouts in a row after which the window is the smallest"`
}

// DefaultSwift has the paper's constants where it names them: ai, beta, max_mdf and the
// range of windows of flow scaling. Targets follow from the base RTT, since the paper's
// are those of its network.
func DefaultSwift() Swift {
	return Swift{
		AI: 1, Beta: 0.8, MaxMDF: 0.5,
		Headroom: 0.25, FSMinCwnd: 0.1, FSMaxCwnd: 100,
		MinCwnd: 0.001, MaxCwnd: 1_000_000, RetxReset: 5,
	}
}

func newSwift(p Swift, _ struct{}) (Transport, error) {
	if p.FSMaxCwnd <= p.FSMinCwnd {
		return Transport{}, kind.Invalid("fs_max_cwnd", "%v: want above fs_min_cwnd, %v", p.FSMaxCwnd, p.FSMinCwnd)
	}
	return Transport{Name: "swift", Modelled: true}, nil
}
