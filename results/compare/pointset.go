package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"aqmlab/results"
)

// ErrTraces is why points cannot be compared flow by flow.
var ErrTraces = errors.New("did not replay the same trace")

// pointSet holds points by scheme and load, checked to replay the same traces.
// Flows are in the order of their starts.
type pointSet struct {
	schemes []string // the baseline first, then as they came
	loads   []float64
	points  map[results.Coord][]results.Point // by scheme and load, in the order of seeds
}

func newPointSet(points []results.Point, baseline string) (*pointSet, error) {
	if len(points) == 0 {
		return nil, errors.New("nothing to compare: there are no points")
	}
	s := &pointSet{
		schemes: results.Distinct(points, func(p results.Point) string { return p.Scheme }),
		loads:   results.Distinct(points, func(p results.Point) float64 { return p.Load }),
		points:  make(map[results.Coord][]results.Point),
	}
	for _, p := range points {
		if err := s.add(p); err != nil {
			return nil, err
		}
	}
	slices.Sort(s.loads)
	if err := s.lead(cmp.Or(baseline, s.schemes[0])); err != nil {
		return nil, err
	}
	return s, s.checkTraces()
}

func (s *pointSet) add(p results.Point) error {
	byStart := func(a, b results.Flow) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) }
	if !slices.IsSortedFunc(p.Flows, byStart) {
		p.Flows = slices.Clone(p.Flows) // they are the caller's
		slices.SortFunc(p.Flows, byStart)
	}
	k := results.Coord{Scheme: p.Scheme, Load: p.Load}
	i, found := slices.BinarySearchFunc(s.points[k], p.Seed, func(q results.Point, seed uint64) int { return cmp.Compare(q.Seed, seed) })
	if found {
		return fmt.Errorf("%v is there twice", p.Coord)
	}
	s.points[k] = slices.Insert(s.points[k], i, p)
	return nil
}

// lead puts the baseline first.
func (s *pointSet) lead(baseline string) error {
	i := slices.Index(s.schemes, baseline)
	if i < 0 {
		return fmt.Errorf("no points of the baseline %q: want one of %s", baseline, strings.Join(s.schemes, ", "))
	}
	s.schemes = slices.Insert(slices.Delete(s.schemes, i, i+1), 0, baseline)
	return nil
}

// at returns the points of a scheme at a load, by seed.
func (s *pointSet) at(scheme string, load float64) []results.Point {
	return s.points[results.Coord{Scheme: scheme, Load: load}]
}

// replayed is one trace as the baseline and another scheme replayed it, flow
// by flow in start order.
type replayed struct{ base, other results.Point }

// commonSeeds pairs the points of two schemes at one load by seed.
func commonSeeds(base, other []results.Point) []replayed {
	var common []replayed
	for _, b := range base {
		for _, o := range other {
			if b.Seed == o.Seed {
				common = append(common, replayed{b, o})
			}
		}
	}
	return common
}

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
					return fmt.Errorf("%s and %s %w at %v: %w", ref.Scheme, p.Scheme, ErrTraces, p.Trace(), err)
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
