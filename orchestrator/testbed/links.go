package testbed

import (
	"fmt"
	"sync"

	"aqmlab/orchestrator/netns"
)

// wholeness tells when an interface of a testbed's switches is lost: nothing goes through
// it any more, and what is measured then is not the lab.
type wholeness struct {
	lost chan struct{} // closed after why is set
	why  error
	once sync.Once
	stop []func()
}

// watchLinks watches the interfaces of all switches until their watching is ended. Those of
// hosts are their other ends.
func (t *Testbed) watchLinks() error {
	t.whole = &wholeness{lost: make(chan struct{})}
	for i, namespace := range t.net.Switches {
		stop, err := netns.Watch(namespace, func(link string) { t.whole.lose(link, t.plan.Switches[i]) })
		if err != nil {
			return err
		}
		t.whole.stop = append(t.whole.stop, stop)
	}
	return nil
}

func (w *wholeness) lose(link, of string) {
	w.once.Do(func() {
		w.why = fmt.Errorf("the link between %s and %s is gone: an end of it was removed or set down; look for what changes interfaces here, such as a network manager or ip link, and run again", of, link)
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
