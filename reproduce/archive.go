package reproduce

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/store"
)

// archive is what the stored runs of a plan hold, of its runtime.
type archive struct {
	plan     *Plan
	points   map[string]stored // by their key
	versions []string          // of aqmlab, that measured them
	compared map[comparison]compare.Comparison
}

// stored is a point, and what made its run.
type stored struct {
	point    store.Point
	manifest results.Manifest
}

// comparison is what has been compared.
type comparison struct {
	lab      *labs.Lab // of an experiment: at its scale
	baseline string
	results.Coord
}

// openArchive looks through the runs of experiments. Runs that were cut short count
// with the points that are whole.
func (p *Plan) openArchive(experiments []*experiment) (*archive, error) {
	a := &archive{plan: p, points: make(map[string]stored), compared: make(map[comparison]compare.Comparison)}
	seen := make(map[string]bool)
	for _, e := range experiments {
		dir := p.runs(e.lab)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		entries, err := store.List(dir)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			// What is being written moves when it is done, under who reads it.
			if entry.State == results.Running || entry.Points == 0 || entry.Runtime != string(p.Runtime) || entry.Start.Before(p.Since) {
				continue
			}
			if err := a.add(entry.Dir); err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

// add takes the points of a run.
func (a *archive) add(dir string) error {
	run, err := store.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was published, or removed, meanwhile
	}
	if err != nil {
		return err
	}
	keys, err := orchestrator.KeysOf(run, a.plan.Kinds)
	if err != nil {
		return nil // of a version with other keys: nothing of it is what the plan asks for
	}
	for i, point := range run.Points() {
		a.points[keys[i]] = stored{point, run.Manifest}
	}
	if v := run.Manifest.GitRevision; !slices.Contains(a.versions, v) {
		a.versions = append(a.versions, v)
	}
	return nil
}

// find finds the points of a scheme at a load, of all seeds that are stored.
func (a *archive) find(e *experiment, at results.Coord) ([]stored, error) {
	var points []stored
	for _, seed := range e.lab.Seeds {
		key, err := e.lab.PointKey(at.Scheme, at.Load, seed)
		if err != nil {
			return nil, err
		}
		if s, ok := a.points[key]; ok {
			points = append(points, s)
		}
	}
	return points, nil
}

// removeLeftovers removes what killed runs left of points that were never whole.
func removeLeftovers(dir string) error {
	entries, err := store.List(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		killed := e.State == results.Interrupted || e.State == results.Broken
		if killed && e.Points == 0 && strings.HasPrefix(e.Name, ".partial-") {
			if err := store.Remove(e.Dir); err != nil {
				return fmt.Errorf("removing what a killed run left: %w", err)
			}
		}
	}
	return nil
}
