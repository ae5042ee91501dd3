package compare

import (
	"aqmlab/results"
	"fmt"
)

// checkTraces makes sure that all schemes at one load and seed replayed the
// same flows, without which comparing them flow by flow means nothing.
func (s *pointSet) checkTraces() error {
	first := make(map[results.Coord]results.Point)
	for _, scheme := range s.schemes {
		for _, load := range s.loads {
			for _, p := range s.at(scheme, load) {
				if ref, ok := first[p.Trace()]; !ok {
					first[p.Trace()] = p
				} else if err := sameTrace(ref, p); err != nil {
					return fmt.Errorf("%s and %s did not replay the same trace at %v: %w", ref.Scheme, p.Scheme, p.Trace(), err)
				}
			}
		}
	}
	return nil
}

// sameTrace compares flows in start order.
func sameTrace(a, b results.Point) error {
	if len(a.Flows) != len(b.Flows) {
		return fmt.Errorf("%d flows and %d flows", len(a.Flows), len(b.Flows))
	}
	for i, f := range a.Flows {
		g := b.Flows[i]
		switch {
		case f.ID != g.ID || f.Start != g.Start:
			return fmt.Errorf("flow %d starts at %v, where the other has flow %d at %v", f.ID, f.Start, g.ID, g.Start)
		case f.Bytes != g.Bytes && !(f.Stops && g.Stops):
			return fmt.Errorf("flow %d has %d bytes in one and %d bytes in the other", f.ID, f.Bytes, g.Bytes)
		case f.Query != g.Query && f.Query > 0 && g.Query > 0: // old records know of no queries
			return fmt.Errorf("flow %d is of query %d in one and %d in the other", f.ID, f.Query, g.Query)
		case f.Client != g.Client || f.Server != g.Server:
			return fmt.Errorf("flow %d goes from host %d to %d in one and from host %d to %d in the other", f.ID, f.Server, f.Client, g.Server, g.Client)
		}
	}
	return nil
}
