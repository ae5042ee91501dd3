package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/results"
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

// loadKey is an axis that labs have themselves.
const loadKey = "workload.load"

// Expand lists the points of a sweep: every scheme and seed at every combination of
// rows. The labs of all points are read and checked; the error names the combination
// that makes a lab that does not hold together.
func (s Spec) Expand() (*Sweep, error) {
	w := &Sweep{Lab: s.Lab, Runtime: string(s.Runtime), kinds: s.Kinds}
	s.Set = slices.Clone(s.Set)
	var crossed []Group
	for _, g := range s.Groups {
		for i, key := range g.Keys {
			if slices.ContainsFunc(w.Axes, func(a Axis) bool { return a.Key == key }) {
				return nil, fmt.Errorf("axis %s stands there twice", key)
			}
			w.Axes = append(w.Axes, Axis{key, g.column(i)})
		}
		if slices.Equal(g.Keys, []string{loadKey}) { // which labs have themselves
			s.Set = append(s.Set, loadKey+"="+strings.Join(g.column(0), ","))
			continue
		}
		crossed = append(crossed, g)
	}
	s.Groups = crossed
	key, err := NewHasher(s.Runtime)
	if err != nil {
		return nil, err
	}
	if err := s.cross(nil, 0, func(settings []string) error { return s.addLab(w, key, settings) }); err != nil {
		return nil, err
	}
	w.addLoads()
	w.name()
	return w, nil
}

// column lists the different values of a key of the group.
func (g Group) column(i int) (values []string) {
	for _, row := range g.Rows {
		if !slices.Contains(values, row[i]) {
			values = append(values, row[i])
		}
	}
	return values
}

// cross calls do with the settings of every combination of rows.
func (s Spec) cross(before []string, group int, do func(settings []string) error) error {
	if group == len(s.Groups) {
		return do(before)
	}
	g := s.Groups[group]
	for _, row := range g.Rows {
		settings := slices.Clone(before)
		for i, key := range g.Keys {
			settings = append(settings, key+"="+row[i])
		}
		if err := s.cross(settings, group+1, do); err != nil {
			return err
		}
	}
	return nil
}

// addLab adds the points of a combination.
func (s Spec) addLab(w *Sweep, key Hasher, settings []string) error {
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
	set := make(map[string]string)
	for _, setting := range settings {
		axis, value, _ := strings.Cut(setting, "=")
		set[axis] = value
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
			for _, scheme := range lab.Schemes {
				p := Point{Lab: len(w.labs) - 1, Values: values, Coord: results.Coord{Scheme: scheme.Name, Load: load, Seed: seed}}
				if p.Key, err = key.Key(lab, p.Coord); err != nil {
					return where(err)
				}
				if len(w.Points) == MaxPoints {
					return fmt.Errorf("the sweep has more than %d points", MaxPoints)
				}
				w.Points = append(w.Points, p)
			}
		}
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

// addLoads makes the loads of the lab an axis, if they differ and are none yet.
func (w *Sweep) addLoads() {
	isAxis := slices.ContainsFunc(w.Axes, func(a Axis) bool { return a.Key == loadKey })
	varies := slices.ContainsFunc(w.Points, func(p Point) bool { return p.Load != w.Points[0].Load })
	if isAxis || !varies {
		return
	}
	axis := Axis{Key: loadKey}
	for i, p := range w.Points {
		load := strconv.FormatFloat(p.Load, 'g', -1, 64)
		if !slices.Contains(axis.Values, load) {
			axis.Values = append(axis.Values, load)
		}
		w.Points[i].Values = append([]string{load}, p.Values...)
	}
	w.Axes = append([]Axis{axis}, w.Axes...)
}
