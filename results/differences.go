package results

import (
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

// CompareRuns compares the union of the runs' points as [Compare] does, and
// lists in what the runs differ. The baseline "" stands for the first run's.
//
// A scheme that more than one run has at the same load and seed is compared
// with itself: it appears as scheme@1, scheme@2, ... by the order of the runs,
// and its plain name, as a baseline, means the first of them.
func CompareRuns(runs []*Run, baseline string) (Comparison, error) {
	if len(runs) == 0 {
		return Comparison{}, errors.New("nothing to compare: no runs")
	}
	points, err := pool(runs)
	if err != nil {
		return Comparison{}, err
	}
	if baseline == "" {
		baseline = runs[0].Manifest.Baseline
	}
	c, err := Compare(points, firstNamed(points, baseline))
	if err != nil {
		return Comparison{}, fmt.Errorf("comparing %s: %w", strings.Join(names(runs), ", "), err)
	}
	c.Differences = differences(runs)
	c.Warnings = append(states(runs), c.Warnings...)
	return c, nil
}

// pool reads the flows of all runs.
func pool(runs []*Run) ([]Point, error) {
	var points []Point
	for _, s := range contenders(runs) {
		p, err := s.ReadFlows()
		if err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	return points, nil
}

// contenders are the points of all runs, with the schemes of several runs told
// apart.
func contenders(runs []*Run) []StoredPoint {
	twice := repeated(runs)
	var points []StoredPoint
	for i, r := range runs {
		for _, p := range r.points {
			if twice[p.Scheme] {
				p.Scheme += "@" + strconv.Itoa(i+1)
			}
			points = append(points, p)
		}
	}
	return points
}

// repeated holds the schemes that have some load and seed in several runs.
func repeated(runs []*Run) map[string]bool {
	type key struct {
		scheme string
		load   float64
		seed   uint64
	}
	seen, twice := make(map[key]bool), make(map[string]bool)
	for _, r := range runs {
		for _, p := range r.points {
			k := key{p.Scheme, p.Load, p.Seed}
			if seen[k] {
				twice[p.Scheme] = true
			}
			seen[k] = true
		}
	}
	return twice
}

// firstNamed finds the scheme of that name, or else its first namesake.
func firstNamed(points []Point, name string) string {
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

func names(runs []*Run) []string {
	out := make([]string, len(runs))
	for i, r := range runs {
		out[i] = filepath.Base(r.Dir)
	}
	return out
}

// states warns about runs that are not whole.
func states(runs []*Run) (out []string) {
	for _, r := range runs {
		if m := r.Manifest; m.State != Complete {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("run %s is %s: %s", filepath.Base(r.Dir), m.State, m.Reason), ": "))
		}
	}
	return out
}

// differences lists the fields whose values are not the same in all runs.
func differences(runs []*Run) []Difference {
	fields := []struct {
		name string
		of   func(Manifest) string
	}{
		{"aqmlab version", func(m Manifest) string { return m.Version }},
		{"git revision", func(m Manifest) string { return m.GitRevision }},
		{"lab", func(m Manifest) string { return m.Lab }},
		{"lab hash", func(m Manifest) string { return fmt.Sprintf("%.12s", m.LabHash) }},
		{"runtime", func(m Manifest) string { return m.Runtime }},
		{"dilation", func(m Manifest) string { return fmt.Sprint(m.Dilation) }},
		{"kernel", func(m Manifest) string { return m.Host.Kernel }},
		{"cpu", func(m Manifest) string { return m.Host.CPU }},
		{"cores", func(m Manifest) string { return fmt.Sprint(m.Host.Cores) }},
		{"transport", func(m Manifest) string { return m.Transport.Name }},
		{"transport provider", func(m Manifest) string { return m.Transport.Provider }},
		{"rtt by", func(m Manifest) string { return m.RTTBy }},
		{"seeds", func(m Manifest) string { return list(m.Seeds) }},
	}
	var out []Difference
	for _, f := range fields {
		d := Difference{Field: f.name}
		for i, name := range names(runs) {
			d.Values = append(d.Values, RunValue{name, f.of(runs[i].Manifest)})
		}
		if slices.ContainsFunc(d.Values, func(v RunValue) bool { return v.Value != d.Values[0].Value }) {
			out = append(out, d)
		}
	}
	return out
}

// list prints values with commas between.
func list[T any](values []T) string {
	text := make([]string, len(values))
	for i, v := range values {
		text[i] = fmt.Sprint(v)
	}
	return strings.Join(text, ", ")
}
