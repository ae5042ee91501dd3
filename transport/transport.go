// Package transport lists the transports that a lab's hosts may speak, whoever
// provides them: the kernel, an eBPF program, or a model.
package transport

import "aqmlab/kind"

// Transport is what every provider of one must keep to.
type Transport struct {
	Name string
	ECN  bool // connections negotiate ECN (RFC 3168), so that switches may mark
}

// Table lists every transport.
func Table() kind.Table[struct{}, Transport] {
	return kind.Table[struct{}, Transport]{
		row("dctcp", "cut the window by the share of marked packets (RFC 8257)", true),
		row("ecn-star", "Reno that treats a mark like a loss, at most once a window (RFC 3168)", true),
		row("reno", "Reno without ECN (RFC 5681)", false),
		row("cubic", "CUBIC without ECN (RFC 9438)", false),
	}
}

func row(name, doc string, ecn bool) kind.Kind[struct{}, Transport] {
	return kind.Row(name, doc, struct{}{}, func(_, _ struct{}) (Transport, error) {
		return Transport{Name: name, ECN: ecn}, nil
	})
}
