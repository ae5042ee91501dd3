package tcp

// reno is RFC 5681.
type reno struct{}

var _ control = reno{}

func newReno(struct{}, struct{}) (Family, error) {
	return Family{make: func() control { return reno{} }}, nil
}

func (reno) open() {}

func (reno) acked(w *window, a ack) {
	if a.grow {
		w.grow(a.bytes)
	}
}

func (reno) cut(w *window, e congestion) { w.halve(e) }
