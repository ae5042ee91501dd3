// Package transport lists the transports that a lab's hosts may speak, whoever
// provides them: the kernel, an eBPF program, or a model.
package transport

import "aqmlab/kind"

// Transport is what every provider of one must keep to.
type Transport struct {
	Name string
	ECN  bool // connections negotiate ECN (RFC 3168), so that switches may mark
	// Modelled tells that no kernel provides it: only modelled hosts speak it, in
	// virtual time.
	Modelled bool
	// G is DCTCP's weight of the newest window in its estimate of how much is
	// marked, in (0, 1] (RFC 8257, section 3.3); zero for other transports. Real
	// hosts have the default.
	G float64
	// LossByAlpha tells that a loss takes of the window what a mark would, and not
	// half: DCTCP of Linux 3.18 to 5.0.
	LossByAlpha bool
	DCQCN       DCQCN // parameters of dcqcn; zero for other transports
}

// Table lists every transport.
func Table() kind.Table[struct{}, Transport] {
	return kind.Table[struct{}, Transport]{
		kind.Row("dctcp", "cut the window by the share of marked packets (RFC 8257)", dctcp{G: 1.0 / 16, OnLoss: OnLossHalf}, newDCTCP),
		row("ecn-star", "Reno that treats a mark like a loss, at most once a window (RFC 3168)", true),
		row("reno", "Reno without ECN (RFC 5681)", false),
		row("cubic", "CUBIC without ECN (RFC 9438)", false),
		kind.Row("dcqcn", "pace RDMA messages at a rate that congestion notifications cut (DCQCN); modelled hosts only", DefaultDCQCN(), newDCQCN),
	}
}

// OnLoss is the parameter of DCTCP that says what a loss takes of the window. Unlike
// others, real hosts follow it.
const (
	OnLoss      = "on_loss"
	OnLossHalf  = "half"
	OnLossAlpha = "alpha"
)

type dctcp struct {
	G      float64 `lab:"g" doc:"weight of the newest window in the estimate of how much is marked, above 0 and at most 1"`
	OnLoss string  `lab:"on_loss" doc:"what a loss takes of the window: half (RFC 8257, section 3.5) or alpha (what a mark takes, as in Linux 3.18 to 5.0)"`
}

func newDCTCP(p dctcp, _ struct{}) (Transport, error) {
	if p.G <= 0 || p.G > 1 {
		return Transport{}, kind.Invalid("g", "%v is outside (0, 1]", p.G)
	}
	switch p.OnLoss {
	case OnLossHalf, OnLossAlpha:
	default:
		return Transport{}, kind.Invalid(OnLoss, "%w", kind.Unknown("choice", p.OnLoss, []string{OnLossHalf, OnLossAlpha}))
	}
	return Transport{Name: "dctcp", ECN: true, G: p.G, LossByAlpha: p.OnLoss == OnLossAlpha}, nil
}

func row(name, doc string, ecn bool) kind.Kind[struct{}, Transport] {
	return kind.Row(name, doc, struct{}{}, func(_, _ struct{}) (Transport, error) {
		return Transport{Name: name, ECN: ecn}, nil
	})
}
