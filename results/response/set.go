// Package response shows what a sweep measured: how figures respond to what was
// varied. It is given stored points ([Set]) and makes curves over one axis, heat maps
// over two, the settings that no other beats, the best ones, and how far each axis
// moves a metric, as text, HTML, figures, JSON and CSV.
//
// Points of equal scheme and values that differ in their seed are repetitions. A mean
// is that over seeds, and its 95 % interval is Student's.
package response

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aqmlab/results"
)

// Set is what a sweep measured so far. Points may be missing.
type Set struct {
	Axes   []Axis
	Points []Point
}

// Axis is one thing that was varied: a key of the lab, such as workload.load, and its
// values in the order of the sweep. A key schemes.NAME.PARAMETER concerns the scheme
// NAME alone: the points of other schemes are the same for all of its values. Keys that
// change together are one axis: their names are joined by [Together], and each value says
// those of all of them.
type Axis struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// Point is what was measured at one combination of values by one scheme with one seed.
type Point struct {
	Values []string // one an axis
	results.Coord
	Figures  map[string]float64 // by metric, see [results.Measure]; what was not measured is not there
	Programs []results.Metric   // those that are of no table: figures of the lab's programs
	Low      []string           // why its fidelity is low; none: it is not
}

// Options say what to show of a set.
type Options struct {
	Title  string // of the page, such as the lab's name
	Metric string // small.p99 when empty or, if no point has that, all.p99
	// Over are the keys of one axis, for curves, or of two, for heat maps and curves over
	// the first. Without, they are the first two that have several values.
	Over []string
	At   map[string]string // keys of axes and the values that they are held at: all else is left out
	// Front are the two metrics of the front, and of the tables of best settings: small.p99
	// (or all.p99) and large.avg (or all.avg) when empty.
	Front [2]string
	// Settings are the keys of the axes that whoever runs a network chooses. The values of
	// the others are conditions, and settings are only compared under equal conditions.
	// When nil they are those below schemes, switch and host. Those below schemes always
	// are.
	Settings []string
}

// Errors that New wraps.
var (
	ErrNoPoints = errors.New("no point of the sweep is measured yet")
	ErrNoAxis   = errors.New("unknown axis")
	ErrNoValue  = errors.New("unknown value")
)

// loadKey is the axis of the load, as points have it.
const loadKey = "workload.load"

// withLoads is the set with an axis for the loads of its points, if points that differ
// in nothing else have several.
func (s Set) withLoads() Set {
	seen := make(map[string]float64)
	var loads []float64
	several := false
	for _, p := range s.Points {
		at := strings.Join(p.Values, "\x00")
		if first, ok := seen[at]; ok && first != p.Load {
			several = true
		}
		seen[at] = p.Load
		if !slices.Contains(loads, p.Load) {
			loads = append(loads, p.Load)
		}
	}
	if !several || slices.ContainsFunc(s.Axes, func(a Axis) bool { return a.Key == loadKey }) {
		return s
	}
	slices.Sort(loads)
	axis := Axis{Key: loadKey}
	for _, load := range loads {
		axis.Values = append(axis.Values, formatLoad(load))
	}
	with := Set{Axes: append(slices.Clone(s.Axes), axis)}
	for _, p := range s.Points {
		p.Values = append(slices.Clone(p.Values), formatLoad(p.Load))
		with.Points = append(with.Points, p)
	}
	return with
}

func formatLoad(load float64) string { return strconv.FormatFloat(load, 'f', -1, 64) }

// axis is the place of a key among the axes.
func (s Set) axis(key string) (int, error) {
	var keys []string
	for i, a := range s.Axes {
		if a.Key == key {
			return i, nil
		}
		keys = append(keys, a.Key)
	}
	return 0, fmt.Errorf("%w %q: want one of %s", ErrNoAxis, key, strings.Join(keys, ", "))
}

// at is the set with the axes that are held, which have one value left.
func (s Set) at(held map[string]string) (Set, error) {
	out := Set{Axes: slices.Clone(s.Axes), Points: slices.Clone(s.Points)}
	schemes := schemesOf(s.Points)
	for key, value := range held {
		i, err := s.axis(key)
		if err != nil {
			return Set{}, err
		}
		if !slices.Contains(s.Axes[i].Values, value) {
			return Set{}, fmt.Errorf("%w %q of %s: want one of %s", ErrNoValue, value, key, strings.Join(s.Axes[i].Values, ", "))
		}
		out.Axes[i].Values = []string{value}
		out.Points = slices.DeleteFunc(out.Points, func(p Point) bool {
			return concerns(key, p.Scheme, schemes) && p.Values[i] != value
		})
	}
	return out, nil
}

func schemesOf(points []Point) []string {
	return results.Distinct(points, func(p Point) string { return p.Scheme })
}

// Together joins the keys of an axis that changes several.
const Together = " with "

// ofScheme tells whether a key concerns single schemes alone.
func ofScheme(key string) bool {
	for part := range strings.SplitSeq(key, Together) {
		if !strings.HasPrefix(part, "schemes.") {
			return false
		}
	}
	return true
}

// concerns tells whether the values of a key matter to a scheme: one of schemes.
func concerns(key, scheme string, schemes []string) bool {
	if !ofScheme(key) {
		return true
	}
	for part := range strings.SplitSeq(key, Together) {
		// A name may begin with another and a point: the longest is meant.
		owner := ""
		for _, s := range schemes {
			if strings.HasPrefix(part, "schemes."+s+".") && len(s) > len(owner) {
				owner = s
			}
		}
		if owner == scheme {
			return true
		}
	}
	return false
}
