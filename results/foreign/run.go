package foreign

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"aqmlab/results"
	"aqmlab/results/store"
)

// Origin says what another simulator ran.
type Origin struct {
	Format    Format
	Scheme    string // its name in comparisons
	Transport string // that its hosts spoke
}

// Store stores what another simulator saw of the trace of a point's load and seed as a run
// of its own below root, with the lab of the run that has the point. Exact is how far completion times
// may be off.
func (o Origin) Store(root string, like *store.Run, trace results.Point, seen []Seen, d store.Describer) (dir string, exact time.Duration, err error) {
	flows, exact, err := Match(trace.Flows, seen)
	if err != nil {
		return "", 0, fmt.Errorf("matching flows with those of run %s at %v: %w", like.Manifest.Lab, trace.Trace(), err)
	}
	p := results.Point{Coord: results.Coord{Scheme: o.Scheme, Load: trace.Load, Seed: trace.Seed}, Flows: flows, Fidelity: results.Fidelity{Label: results.FidelityOther}}
	w, err := store.Create(root, o.manifest(like.Manifest, p.Coord), like.LabYAML, d)
	if err != nil {
		return "", 0, err
	}
	if err := w.Add(p); err != nil {
		return "", 0, err
	}
	dir, err = w.Finish(time.Now())
	return dir, exact, err
}

// manifest says what is known of such a run. The lab is that of the run beside which it is
// to stand: it says what the other simulator was to simulate.
func (o Origin) manifest(like results.Manifest, at results.Coord) results.Manifest {
	m := results.Manifest{
		Start: time.Now(), Runtime: o.Format.Simulator, Dilation: 1,
		Transport:  results.Transport{Name: o.Transport, Provider: o.Format.Simulator},
		Lab:        like.Lab,
		Background: like.Background,
		Schemes:    []string{at.Scheme}, Loads: []float64{at.Load}, Seeds: []uint64{at.Seed}, Baseline: at.Scheme,
	}
	m.Version, m.GitRevision = results.ThisBuild()
	return m
}

// TraceOf is the point of a run whose flows a simulator replayed: that of a load and a seed,
// each of which may be left out where the run has one only.
func TraceOf(run *store.Run, load *float64, seed *uint64) (store.Point, error) {
	var fit []store.Point
	var traces []string
	for _, p := range run.Points() {
		if text := p.Trace().String(); !slices.Contains(traces, text) {
			traces = append(traces, text)
			if (load == nil || *load == p.Load) && (seed == nil || *seed == p.Seed) {
				fit = append(fit, p)
			}
		}
	}
	if len(fit) == 1 {
		return fit[0], nil
	}
	return store.Point{}, fmt.Errorf("%d traces of run %s fit: it has %s; name one by its load and its seed", len(fit), run.Dir, strings.Join(traces, "; "))
}
