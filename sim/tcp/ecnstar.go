package tcp

import (
	"aqmlab/kind"
	"aqmlab/switch/packet"
)

// ECNStar is Reno with ECN (RFC 3168): a mark halves the window, as a loss does,
// and a window of data that has marks and losses is answered once. The pause
// until a timer expires that section 6.1.2 suggests for marks at a window of one
// segment is left out, as in Linux and ns-2.
type ECNStar struct {
	MinWindow int `lab:"min_window" doc:"segments below which no mark takes the window: 2 in RFC 5681 and Linux, 1 in ns-2"`
}

type ecnStar struct {
	reno
	least int64
}

var _ control = ecnStar{}

func newECNStar(p ECNStar, _ struct{}) (Family, error) {
	if err := checkMinWindow(p.MinWindow); err != nil {
		return Family{}, err
	}
	c := ecnStar{least: int64(p.MinWindow)}
	return Family{make: func() control { return c }, echo: echoUntilCWR, data: packet.ECT0, others: packet.NotECT}, nil
}

func (c ecnStar) cut(w *window, e congestion) {
	switch {
	case e.cause == marked:
		w.shrink(w.cwnd/2, c.least, marked)
	case !e.again:
		w.halve(e)
	}
}

func checkMinWindow(segments int) error {
	if segments < 1 {
		return kind.Invalid("min_window", "%d is below 1", segments)
	}
	return nil
}
