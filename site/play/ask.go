// Package play runs a lab of the book for a web page: two schemes beside each other in
// virtual time, a slice at a time, so that the page can draw what forms. It is the
// simulator itself; what a run measures is what the command measures.
package play

import (
	"fmt"
	"maps"
	"slices"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/switch/port"
)

// Ask is what is to be run: a lab, two schemes, and what is changed of them. Empty values
// are those of the lab, of its loads and seeds the first.
type Ask struct {
	Lab   string  `json:"lab"` // name of the lab book
	Load  string  `json:"load"`
	Flows string  `json:"flows"`
	Seed  string  `json:"seed"`
	Sides [2]Side `json:"sides"` // the first is the baseline
}

// Side is one of the schemes: one of the lab, by its name, or else one of the table with
// its defaults.
type Side struct {
	Scheme string            `json:"scheme"`
	Params map[string]string `json:"params"` // that differ, as a lab file has them
}

// lab is the lab that is asked for, with the two schemes alone. Its file is what the
// command runs to the same figures. Errors name the key that does not fit.
func (a Ask) lab() (*labs.Lab, error) {
	lab, err := labs.FromBook(a.Lab, port.Kinds{})
	if err != nil {
		return nil, err
	}
	var two []labs.Scheme
	for _, side := range a.Sides {
		s, err := schemeOf(lab, side.Scheme)
		if err != nil {
			return nil, err
		}
		if len(two) > 0 && two[0].Name == s.Name {
			s.Name += "-2" // the same with other parameters
		}
		two = append(two, s)
	}
	lab.Schemes, lab.Baseline, lab.Sweep = two, two[0].Name, labs.Sweep{}
	lab.Workload.Load, lab.Seeds = lab.Workload.Load[:min(1, len(lab.Workload.Load))], lab.Seeds[:1]
	text, err := lab.YAML()
	if err != nil {
		return nil, err
	}
	if lab, err = labs.Stored(text, lab.Kinds, "page", a.changes(two)...); err != nil {
		return nil, err
	}
	return lab, fits(lab)
}

// schemeOf finds a scheme by its name in the lab, or else in the table.
func schemeOf(lab *labs.Lab, name string) (labs.Scheme, error) {
	if i := slices.IndexFunc(lab.Schemes, func(s labs.Scheme) bool { return s.Name == name }); i >= 0 {
		return lab.Schemes[i], nil
	}
	row, err := lab.Kinds.Schemes().Find(name)
	return labs.Scheme{Name: row.Name, AQM: kind.Choice{Kind: row.Name}}, err
}

// changes are "key=value".
func (a Ask) changes(two []labs.Scheme) (set []string) {
	for _, c := range []struct{ key, value string }{{"workload.load", a.Load}, {"workload.flows", a.Flows}, {"seeds", a.Seed}} {
		if c.value != "" {
			set = append(set, c.key+"="+c.value)
		}
	}
	for i, side := range a.Sides {
		for _, name := range slices.Sorted(maps.Keys(side.Params)) {
			if v := side.Params[name]; v != "" {
				set = append(set, fmt.Sprintf("schemes.%s.%s=%s", two[i].Name, name, v))
			}
		}
	}
	return set
}

// fits tells whether the lab has one point for each of its two schemes, as a page shows.
func fits(lab *labs.Lab) error {
	if len(lab.Workload.Load) != 1 {
		return fmt.Errorf("want one load, got %d", len(lab.Workload.Load))
	}
	if len(lab.Seeds) != 1 {
		return fmt.Errorf("want one seed, got %d", len(lab.Seeds))
	}
	if flows := lab.Workload.Flows; flows > maxFlows {
		return fmt.Errorf("workload.flows: want at most %d in a page, got %d: the command takes more", maxFlows, flows)
	}
	return nil
}

// maxFlows is about what a page can hold in memory and run within minutes.
const maxFlows = 20_000
