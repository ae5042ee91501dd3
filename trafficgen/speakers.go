package trafficgen

import (
	"fmt"
	"slices"

	"aqmlab/trafficgen/traffic"
)

// Speaker says which flows speak a transport: those that fit all that it names. What it
// does not name may be any.
type Speaker struct {
	Services  []int // of the flows
	Servers   []int // hosts that send the data
	Workloads []int // 0 is that of the spec, 1 the first of its background
}

// fits tells whether a flow of a workload speaks it.
func (s Speaker) fits(f *traffic.Flow, workload int) bool {
	in := func(all []int, one int) bool { return len(all) == 0 || slices.Contains(all, one) }
	return in(s.Services, f.Service) && in(s.Servers, f.Server) && in(s.Workloads, workload)
}

// spoken draws the flows of a workload, and says what they speak. Flows of a replayed
// trace may say so themselves.
func (w *workload) spoken(number int) []traffic.Flow {
	flows := w.arrival.flows(w)
	for i := range flows {
		if f := &flows[i]; f.Transport == 0 {
			f.Transport = 1 + slices.IndexFunc(w.Transports, func(s Speaker) bool { return s.fits(f, f.Workload+number) })
		}
	}
	return flows
}

// checkSpoken wants a flow of a trace to speak nothing that the spec does not have.
func (w *workload) checkSpoken(r *row) error {
	if n := len(w.Transports); r.Transport > n {
		return fmt.Errorf("transport %d is outside 0 to %d: the lab has %d beside that of its hosts", r.Transport, n, n)
	}
	return nil
}
