package compare

import (
	"aqmlab/results"
	"aqmlab/results/store"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Difference is something in which compared runs differ beside their schemes.
type Difference struct {
	Field  string     `json:"field"`
	Values []RunValue `json:"values"` // one a run
}

// RunValue is one run's part of a difference.
type RunValue struct {
	Run   string `json:"run"` // name of its folder
	Value string `json:"value"`
}

// String prints "kernel: 6.1.0 (run a), 6.8.0 (run b)".
func (d Difference) String() string {
	parts := make([]string, len(d.Values))
	for i, v := range d.Values {
		parts[i] = fmt.Sprintf("%s (%s)", v.Value, v.Run)
	}
	return d.Field + ": " + strings.Join(parts, ", ")
}

// Runs compares the union of the runs' points as [Compare] does, and
// lists in what the runs differ. The baseline "" stands for the first run's.
//
// A scheme that more than one run has at the same load and seed is compared
// with itself: it appears as scheme@1, scheme@2, ... by the order of the runs,
// and its plain name, as a baseline, means the first of them. So does a scheme
// of runs that were not made in the same way: their points do not add up. Points
// of other loads and seeds join those of the same scheme otherwise.
//
// Beside what Compare refuses, a run must not be there twice, and must have some
// load and seed in common with the baseline.
func Runs(runs []*store.Run, baseline string) (Comparison, error) {
	if len(runs) == 0 {
		return Comparison{}, errors.New("nothing to compare: no runs")
	}
	if err := distinct(runs); err != nil {
		return Comparison{}, err
	}
	points, err := pool(runs)
	if err != nil {
		return Comparison{}, err
	}
	if baseline == "" {
		baseline = runs[0].Manifest.Baseline
	}
	baseline = firstNamed(points, baseline)
	err = strangers(runs, baseline)
	var c Comparison
	if err == nil {
		c, err = Points(points, baseline)
	}
	if err != nil {
		return Comparison{}, fmt.Errorf("comparing %s: %w%s", strings.Join(Names(runs), ", "), err, because(runs))
	}
	c.Runs, c.Differences = Names(runs), differences(runs)
	c.Warnings = append(states(runs), c.Warnings...)
	return c, nil
}

// pool reads the flows of all runs.
func pool(runs []*store.Run) ([]results.Point, error) {
	var points []results.Point
	for _, s := range Contenders(runs) {
		p, err := s.ReadFlows()
		if err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	return points, nil
}

// Contenders are the points of all runs, with the schemes of several runs told
// apart.
func Contenders(runs []*store.Run) []store.Point { return slices.Concat(byRun(runs)...) }

// byRun are the contenders of each run.
func byRun(runs []*store.Run) [][]store.Point {
	apart := apart(runs)
	groups := make([][]store.Point, len(runs))
	for i, r := range runs {
		for _, p := range r.Points() {
			if apart[p.Scheme] {
				p.Scheme += "@" + strconv.Itoa(i+1)
			}
			groups[i] = append(groups[i], p)
		}
	}
	return groups
}

// firstNamed finds the scheme of that name, or else its first namesake.
func firstNamed(points []results.Point, name string) string {
	for _, p := range points {
		if p.Scheme == name {
			return name
		}
	}
	for _, p := range points {
		if plain, _, ok := strings.Cut(p.Scheme, "@"); ok && plain == name {
			return p.Scheme
		}
	}
	return name
}

func Names(runs []*store.Run) []string {
	out := make([]string, len(runs))
	for i, r := range runs {
		out[i] = filepath.Base(r.Dir)
	}
	return out
}

// states warns about runs that are not whole.
func states(runs []*store.Run) (out []string) {
	for _, r := range runs {
		if m := r.Manifest; m.State != results.Complete {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("run %s is %s: %s", filepath.Base(r.Dir), m.State, m.Reason), ": "))
		}
	}
	return out
}

// differences lists the fields whose values are not the same in all runs, then
// the keys of their labs.
func differences(runs []*store.Run) []Difference {
	out := []Difference{}
	add := func(name string, of func(i int) string) {
		d := Difference{Field: name}
		for i, run := range Names(runs) {
			d.Values = append(d.Values, RunValue{run, of(i)})
		}
		if slices.ContainsFunc(d.Values, func(v RunValue) bool { return v.Value != d.Values[0].Value }) {
			out = append(out, d)
		}
	}
	labs := make([]store.LabKeys, len(runs))
	for i, r := range runs {
		labs[i] = store.LabKeysOf(r.LabYAML)
	}
	for _, f := range store.Fields() {
		add(f.Name, func(i int) string { return f.Of(runs[i].Manifest) })
	}
	for _, key := range store.UnlikeKeys(labs) {
		add("lab key "+key, func(i int) string { return cmp.Or(labs[i].Values[key], "none") })
	}
	return out
}
