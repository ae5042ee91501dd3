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
	G     float64
	DCQCN DCQCN // parameters of dcqcn; zero for other transports
}

// Table lists every transport.
func Table() kind.Table[struct{}, Transport] {
	return kind.Table[struct{}, Transport]{
		kind.Row("dctcp", "cut the window by the share of marked packets (RFC 8257)", dctcp{G: 1.0 / 16}, newDCTCP),
		row("ecn-star", "Reno that treats a mark like a loss, at most once a window (RFC 3168)", true),
		row("reno", "Reno without ECN (RFC 5681)", false),
		row("cubic", "CUBIC without ECN (RFC 9438)", false),
		kind.Row("dcqcn", "pace RDMA messages at a rate that congestion notifications cut (DCQCN); modelled hosts only", DefaultDCQCN(), newDCQCN),
	}
}

type dctcp struct {
	G float64 `lab:"g" doc:"weight of the newest window in the estimate of how much is marked, above 0 and at most 1"`
}

func newDCTCP(p dctcp, _ struct{}) (Transport, error) {
	if p.G <= 0 || p.G > 1 {
		return Transport{}, kind.Invalid("g", "%v is outside (0, 1]", p.G)
	}
	return Transport{Name: "dctcp", ECN: true, G: p.G}, nil
}

func row(name, doc string, ecn bool) kind.Kind[struct{}, Transport] {
	return kind.Row(name, doc, struct{}{}, func(_, _ struct{}) (Transport, error) {
		return Transport{Name: name, ECN: ecn}, nil
	})
}
