//go:build !js

package compare

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aqmlab/results"
	"aqmlab/results/coexist"
	"aqmlab/results/store"
)

// Runs compares the union of the runs' points as [Points] does, and
// lists in what the runs differ. The baseline "" stands for the first run's.
//
// A scheme that more than one run has at the same load and seed is compared
// with itself: it appears as scheme@1, scheme@2, ... by the order of the runs,
// and its plain name, as a baseline, means the first of them. So does a scheme
// of runs that were not made in the same way: their points do not add up. Points
// of other loads and seeds join those of the same scheme otherwise.
//
// Beside what Points refuses, a run must not be there twice, and must have some
// load and seed in common with the baseline.
func Runs(runs []*store.Run, baseline string) (Comparison, error) {
	return RunsBy(runs, baseline, coexist.Usual())
}

// RunsBy is [Runs] with a rule for how parties share the network.
func RunsBy(runs []*store.Run, baseline string, rule coexist.Rule) (Comparison, error) {
	if len(runs) == 0 {
		return Comparison{}, errors.New("nothing to compare: no runs")
	}
	if err := distinct(runs); err != nil {
		return Comparison{}, err
	}
	given := runs
	runs, points := pool(runs)
	if baseline == "" {
		baseline = runs[0].Manifest.Baseline
	}
	baseline = firstNamed(points, baseline)
	err := strangers(runs, baseline)
	var c Comparison
	if err == nil {
		c, err = Points(points, baseline)
	}
	if err != nil {
		return Comparison{}, fmt.Errorf("comparing %s: %w%s", strings.Join(Names(runs), ", "), err, because(runs)+strings.Join(append([]string{""}, LeftOut(runs)...), "; "))
	}
	judged, blind := Judge(runs, points, rule)
	c.Share(points, judged)
	c.Runs, c.Differences = Names(runs), differences(given)
	c.Warnings = slices.Concat(states(runs), standIns(runs), LeftOut(runs), c.Warnings, blind)
	return c, nil
}

// pool reads the flows of all runs that can be used.
func pool(runs []*store.Run) (usable []*store.Run, points []results.Point) {
	read := make(map[string]results.Point) // by folder
	usable = Usable(runs, func(s store.Point) (err error) {
		read[s.Path()], err = s.ReadFlows()
		return err
	})
	for _, s := range Contenders(usable) {
		p := read[s.Path()]
		p.Scheme = s.Scheme
		points = append(points, p)
	}
	return usable, points
}

// Judge judges how the parties of points share the network: the points of runs, in the
// order of [Contenders], with their flows. Those of one party whose delays nobody asked
// for are nil. A point whose samples cannot be read is nil, with a warning.
func Judge(runs []*store.Run, points []results.Point, rule coexist.Rule) (all []*coexist.Judgement, warnings []string) {
	all = make([]*coexist.Judgement, len(points))
	n := 0
	for i, group := range byRun(runs) {
		for _, s := range group {
			m, p := runs[i].Manifest, points[n]
			n++
			if s.Delays == 0 && len(coexist.PartiesOf(m, p.Flows).Names) < 2 {
				continue
			}
			var err error
			if p, err = sampled(s, p); err != nil {
				warnings = append(warnings, fmt.Sprintf("how parties share %v of run %s is not judged: %v", s.Coord, filepath.Base(runs[i].Dir), err))
				continue
			}
			j := coexist.Judge(m, p, rule)
			all[n-1] = &j
		}
	}
	return all, warnings
}

// sampled reads what a point with its flows lacks for a judgement.
func sampled(s store.Point, p results.Point) (results.Point, error) {
	var err error
	if p.Queues, err = s.ReadQueues(); err != nil {
		return p, err
	}
	if p.Services, err = s.ReadServices(); err != nil {
		return p, err
	}
	p.Delays, err = s.ReadDelays()
	return p, err
}

// Usable are the runs without the points that are damaged, or for which check fails. With
// such a point those of all schemes and runs go that replayed the same flows: otherwise
// schemes would be compared on different seeds.
func Usable(runs []*store.Run, check func(store.Point) error) []*store.Run {
	usable := make([]*store.Run, len(runs))
	lost := make(map[results.Coord]bool)
	for i, r := range runs {
		usable[i] = r.Sound(check)
		for _, d := range usable[i].Damaged() {
			lost[d.Trace()] = true
		}
	}
	for i, r := range usable {
		usable[i] = r.Without(func(at results.Coord) bool { return lost[at.Trace()] })
	}
	return usable
}

// LeftOut says which points of runs are left out as they are damaged.
func LeftOut(runs []*store.Run) (out []string) {
	for _, r := range runs {
		for _, d := range r.Damaged() {
			out = append(out, fmt.Sprintf("point %s of run %s is damaged, so %v is left out for all schemes: %v; %s", d.Folder, filepath.Base(r.Dir), d.Trace(), d.Err, store.Remedy(r.Dir)))
		}
	}
	return out
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

// Names are those of the folders of runs.
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

// standIns warns about runs on another transport than their lab asked for.
func standIns(runs []*store.Run) (out []string) {
	for _, r := range runs {
		if t := r.Manifest.Transport; t.InPlaceOf != "" {
			out = append(out, fmt.Sprintf("the hosts of run %s spoke %s in place of %s, which the kernel did not give to its user", filepath.Base(r.Dir), t.Name, t.InPlaceOf))
		}
	}
	return out
}

// differences lists the fields whose values are not the same in all runs, then
// the keys of their labs.
func differences(runs []*store.Run) []Difference {
	out := []Difference{}
	for _, s := range store.Settings(runs) {
		if s.Key != "" && !s.Matters {
			continue
		}
		d := Difference{Field: s.Name}
		for i, run := range Names(runs) {
			d.Values = append(d.Values, RunValue{run, cmp.Or(s.Values[i], "none")})
		}
		out = append(out, d)
	}
	return out
}

// unlike lists in what a run differs from another, of what decides how a point
// is measured: "runtime: sim and netns". Schemes are those whose parameters
// count; nil stands for all that both labs have.
func unlike(a, b *store.Run, schemes []string) []string {
	var out []string
	for _, s := range store.Settings([]*store.Run{a, b}) {
		scheme := store.SchemeOf(s.Key)
		matters := s.Matters || s.Name == "kernel" && (a.Manifest.OnOwnKernel() || b.Manifest.OnOwnKernel())
		if matters && (scheme == "" || schemes == nil || slices.Contains(schemes, scheme)) {
			out = append(out, fmt.Sprintf("%s: %s and %s", s.Name, cmp.Or(s.Values[0], "none"), cmp.Or(s.Values[1], "none")))
		}
	}
	return out
}

// apart holds the schemes that are not the same in all runs that have them:
// they have some load and seed twice, or the runs were made in other ways.
func apart(runs []*store.Run) map[string]bool {
	apart := make(map[string]bool)
	for i, a := range runs {
		for _, b := range runs[:i] {
			for _, s := range schemesOf(b) {
				if slices.Contains(schemesOf(a), s) && (overlap(a, b, s) || unlike(a, b, []string{s}) != nil) {
					apart[s] = true
				}
			}
		}
	}
	return apart
}

// schemesOf are those that the run has points of.
func schemesOf(r *store.Run) []string {
	return results.Distinct(r.Points(), func(p store.Point) string { return p.Scheme })
}

// overlap tells whether both runs have a scheme at some load and seed.
func overlap(a, b *store.Run, scheme string) bool {
	return slices.ContainsFunc(a.Points(), func(p store.Point) bool {
		return p.Scheme == scheme && slices.ContainsFunc(b.Points(), func(q store.Point) bool {
			return q.Coord == p.Coord
		})
	})
}

// distinct refuses a folder that is given twice: its points would be compared
// with themselves.
func distinct(runs []*store.Run) error {
	seen := make(map[string]bool)
	for _, r := range runs {
		dir, err := filepath.EvalSymlinks(r.Dir)
		if err == nil {
			dir, err = filepath.Abs(dir)
		}
		if err != nil {
			return fmt.Errorf("looking for run %s: %w", r.Dir, err)
		}
		if seen[dir] {
			return fmt.Errorf("run %s is given twice", filepath.Base(dir))
		}
		seen[dir] = true
	}
	return nil
}

// because says in what runs that cannot be compared differ.
func because(runs []*store.Run) string {
	var all []string
	for _, r := range runs[1:] {
		all = append(all, unlike(runs[0], r, nil)...)
	}
	if all == nil {
		return ""
	}
	return "; the runs differ in " + strings.Join(results.Distinct(all, func(text string) string { return text }), "; ")
}

// RunComparison is the comparison of one run's schemes: what `compare --each
// --json` prints.
type RunComparison struct {
	Lab string `json:"lab"`
	Comparison
}

// Each compares the schemes of every run by itself: runs of different
// flows can stand side by side so, and nothing is compared between them. The
// baseline "" stands for each run's own.
func Each(runs []*store.Run, baseline string, rule coexist.Rule) ([]RunComparison, error) {
	all := []RunComparison{}
	for _, r := range runs {
		c, err := RunsBy([]*store.Run{r}, baseline, rule)
		if err != nil {
			return nil, err
		}
		all = append(all, RunComparison{r.Manifest.Lab, c})
	}
	return all, nil
}

// strangers refuses runs of which no point can be compared with the baseline.
func strangers(runs []*store.Run, baseline string) error {
	groups := byRun(runs)
	var traces []results.Coord
	for _, p := range slices.Concat(groups...) {
		if p.Scheme == baseline {
			traces = append(traces, p.Trace())
		}
	}
	for i, group := range groups {
		if len(traces) == 0 || slices.ContainsFunc(group, func(p store.Point) bool { return slices.Contains(traces, p.Trace()) }) {
			continue
		}
		return fmt.Errorf("nothing to compare: run %s has no load and seed in common with the baseline %s: it has %s, the baseline %s",
			filepath.Base(runs[i].Dir), baseline, tracesText(results.Distinct(group, store.Point.Trace)), tracesText(traces))
	}
	return nil
}

// tracesText is "load 0.5 (seeds 1, 2), load 0.9 (seed 1)".
func tracesText(traces []results.Coord) string {
	if len(traces) == 0 {
		return "no points"
	}
	loads := results.Distinct(traces, func(t results.Coord) float64 { return t.Load })
	seeds := make(map[float64][]uint64)
	for _, s := range traces {
		seeds[s.Load] = append(seeds[s.Load], s.Seed)
	}
	slices.Sort(loads)
	var parts []string
	for _, l := range loads {
		slices.Sort(seeds[l])
		word := "seeds"
		if len(seeds[l]) == 1 {
			word = "seed"
		}
		parts = append(parts, fmt.Sprintf("load %s (%s %s)", strconv.FormatFloat(l, 'g', -1, 64), word, results.Join(seeds[l])))
	}
	return strings.Join(parts, ", ")
}
