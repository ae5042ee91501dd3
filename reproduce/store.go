package reproduce

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/results"
)

// column is one of the two that the card has for what was measured here.
type column int

const (
	simulated column = iota // modelled hosts
	testbed                 // real ones
)

func columnOf(runtime string) column {
	if runtime == string(orchestrator.Sim) {
		return simulated
	}
	return testbed
}

// stored is what the runs below a folder hold.
type stored struct {
	points   map[place]results.StoredPoint
	versions []string // of aqmlab, that measured them
	compared map[comparison]results.Comparison
}

// comparison is what has been compared.
type comparison struct {
	lab      *labs.Lab // of a study: at its scale
	baseline string
	spot
}

// place is where a point is found.
type place struct {
	column
	key string
}

// folder is where the runs of a lab are stored.
func (p *Plan) folder(lab *labs.Lab) string { return filepath.Join(p.Out, lab.Name) }

// read looks through the runs of the plan's labs. Runs that were cut short count
// with the points that are whole.
func (p *Plan) read() (*stored, error) {
	s := &stored{points: make(map[place]results.StoredPoint), compared: make(map[comparison]results.Comparison)}
	seen := make(map[string]bool)
	for _, study := range p.studies {
		dir := p.folder(study.lab)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		entries, err := results.List(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Points == 0 {
				continue
			}
			if err := p.add(s, e.Dir); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// add takes the points of a run. One of another real host's runtime gives way to
// one of the runtime that was asked for.
func (p *Plan) add(s *stored, dir string) error {
	run, err := results.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was published, or removed, meanwhile
	}
	if err != nil {
		return err
	}
	keys, err := orchestrator.KeysOf(run, p.Kinds)
	if err != nil {
		return nil // of a version with other keys: nothing of it is what the plan asks for
	}
	for i, point := range run.Points() {
		key := keys[i]
		at := place{columnOf(run.Manifest.Runtime), key}
		if _, there := s.points[at]; there && run.Manifest.Runtime != string(p.Runtime) {
			continue
		}
		s.points[at] = point
		if v := run.Manifest.GitRevision; !slices.Contains(s.versions, v) {
			s.versions = append(s.versions, v)
		}
	}
	return nil
}

// sweep removes what killed runs left of points that were never whole.
func sweep(dir string) error {
	entries, err := results.List(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		killed := e.State == results.Interrupted || e.State == results.Broken
		if killed && e.Points == 0 && strings.HasPrefix(e.Name, ".partial-") {
			if err := results.Remove(e.Dir); err != nil {
				return fmt.Errorf("removing what a killed run left: %w", err)
			}
		}
	}
	return nil
}
