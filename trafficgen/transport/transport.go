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
	DCTCP    DCTCP // parameters of dctcp; zero for other transports
	DCQCN    DCQCN // parameters of dcqcn; zero for other transports
}

// Table lists every transport.
func Table() kind.Table[struct{}, Transport] {
	return kind.Table[struct{}, Transport]{
		kind.Row("dctcp", "cut the window by the share of marked packets (RFC 8257)", DefaultDCTCP(), newDCTCP),
		kind.Row("ecn-star", "Reno that treats a mark like a loss, at most once a window (RFC 3168)", DefaultECNStar(), newECNStar),
		row("reno", "Reno without ECN (RFC 5681)", false),
		row("cubic", "CUBIC without ECN (RFC 9438)", false),
		kind.Row("dcqcn", "pace RDMA messages at a rate that congestion notifications cut (DCQCN); modelled hosts only", DefaultDCQCN(), newDCQCN),
	}
}

func row(name, doc string, ecn bool) kind.Kind[struct{}, Transport] {
	return kind.Row(name, doc, struct{}{}, func(_, _ struct{}) (Transport, error) {
		return Transport{Name: name, ECN: ecn}, nil
	})
}
