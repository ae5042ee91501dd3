package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/results"
	"aqmlab/results/response"
	"aqmlab/switch/port"
)

// Spec says what a sweep is to measure.
type Spec struct {
	Lab     string   // name or file
	Set     []string // overrides of the lab at every point: "key=value"
	Groups  []Group
	Schemes []string // of the lab; none: all
	Runtime orchestrator.Runtime
	Kinds   port.Kinds
}

// MaxPoints is how many points a sweep may have.
const MaxPoints = 1_000_000

// LoadKey is an axis that labs have themselves.
const LoadKey = "workload.load"

// Expand lists the points of a sweep: every scheme and seed at every combination of
// rows. The labs of all points are read and checked; the error names the combination
// that makes a lab that does not hold together.
func (s Spec) Expand() (*Sweep, error) {
	w := &Sweep{Lab: s.Lab, Runtime: s.Runtime, kinds: s.Kinds}
	s.Set = slices.Clone(s.Set)
	var crossed []Group
	var keys []string
	for _, g := range s.Groups {
		for _, key := range g.Keys {
			if slices.Contains(keys, key) {
				return nil, fmt.Errorf("axis %s stands there twice", key)
			}
			keys = append(keys, key)
		}
		w.Axes = append(w.Axes, g.axis())
		if slices.Equal(g.Keys, []string{LoadKey}) { // which labs have themselves
			s.Set = append(s.Set, LoadKey+"="+strings.Join(g.axis().Values, ","))
			continue
		}
		crossed = append(crossed, g)
	}
	s.Groups = crossed
	key, err := NewHasher(s.Runtime)
	if err != nil {
		return nil, err
	}
	if err := s.cross(nil, func(rows []int) error { return s.addLab(w, key, rows) }); err != nil {
		return nil, err
	}
	w.name()
	return w, nil
}

// axis is the group as one axis, whose values are its rows.
func (g Group) axis() response.Axis {
	a := response.Axis{Key: strings.Join(g.Keys, response.Together)}
	for i := range g.Rows {
		a.Values = append(a.Values, g.value(i))
	}
	return a
}

// value is a row as the value of an axis.
func (g Group) value(row int) string { return strings.Join(g.Rows[row], response.Together) }

// cross calls do with every combination of rows, one of each group.
func (s Spec) cross(before []int, do func(rows []int) error) error {
	if len(before) == len(s.Groups) {
		return do(before)
	}
	for row := range s.Groups[len(before)].Rows {
		if err := s.cross(append(slices.Clone(before), row), do); err != nil {
			return err
		}
	}
	return nil
}

// addLab adds the points of a combination.
func (s Spec) addLab(w *Sweep, key Hasher, rows []int) error {
	var settings []string
	set := make(map[string]string) // by axis
	for i, g := range s.Groups {
		set[g.axis().Key] = g.value(rows[i])
		for j, key := range g.Keys {
			settings = append(settings, key+"="+g.Rows[rows[i]][j])
		}
	}
	where := func(err error) error {
		if len(settings) == 0 {
			return err
		}
		return fmt.Errorf("at %s: %w", strings.Join(settings, ", "), err)
	}
	lab, err := labs.Load(s.Lab, labs.Options{Set: slices.Concat(s.Set, settings), Kinds: s.Kinds})
	if err != nil {
		return where(err)
	}
	if err := lab.Only(s.Schemes); err != nil {
		return where(err)
	}
	if err := s.checkHosts(lab); err != nil {
		return where(err)
	}
	w.labs = append(w.labs, lab)
	number := len(w.labs) - 1
	for _, scheme := range lab.Schemes {
		keyOf, err := key.scheme(lab, scheme.Name)
		if err != nil {
			return where(err)
		}
		for _, load := range lab.Workload.Load {
			values := make([]string, len(w.Axes))
			for i, a := range w.Axes {
				value, isSet := set[a.Key]
				if !isSet {
					value = strconv.FormatFloat(load, 'g', -1, 64)
				}
				values[i] = value
			}
			for _, seed := range lab.Seeds {
				at := results.Coord{Scheme: scheme.Name, Load: load, Seed: seed}
				w.Points = append(w.Points, Point{Coord: at, Values: values, Lab: number, Key: keyOf(at)})
			}
		}
	}
	if len(w.Points) > MaxPoints {
		return fmt.Errorf("the sweep has more than %d points", MaxPoints)
	}
	return nil
}

// checkHosts refuses labs that the runtime cannot run, before anything is.
func (s Spec) checkHosts(lab *labs.Lab) error {
	if s.Runtime.Facts().Modelled {
		return nil
	}
	return lab.CheckReal()
}
