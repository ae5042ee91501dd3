package testbed

import "sync"

// wholeness tells when an interface of a testbed's switches is lost: nothing goes through
// it any more, and what is measured then is not the lab.
type wholeness struct {
	lost chan struct{} // closed after why is set
	why  error
	once sync.Once
	stop []func()
}

// watchLinks watches the interfaces of all switches until their watching is ended.
func (t *Testbed) watchLinks() error {
	t.whole = &wholeness{lost: make(chan struct{})}
	return t.eachGround(func(_ int, g ground) error {
		stop, err := g.watch(t.whole.lose)
		if err == nil {
			t.whole.stop = append(t.whole.stop, stop)
		}
		return err
	})
}

func (w *wholeness) lose(why error) {
	w.once.Do(func() {
		w.why = why
		close(w.lost)
	})
}

// err is why the testbed is not whole; nil if it is, or is not watched.
func (w *wholeness) err() error {
	select {
	case <-w.gone():
		return w.why
	default:
		return nil
	}
}

// gone is closed when a link is lost.
func (w *wholeness) gone() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.lost
}

// end ends the watching.
func (w *wholeness) end() {
	if w == nil {
		return
	}
	for _, stop := range w.stop {
		stop()
	}
	w.stop = nil
}
