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
	"aqmlab/results/compare"
	"aqmlab/results/store"
)

// runsFolder is where the runs are stored, below the folder of the card.
const runsFolder = "runs"

// stored is what runs hold that the plan asks for, of its runtime.
type stored struct {
	points   map[string]found // by their key
	versions []string         // of aqmlab, that measured them
	compared map[comparison]compare.Comparison
}

// found is a point, and what made its run.
type found struct {
	point    store.Point
	manifest results.Manifest
}

// comparison is what has been compared.
type comparison struct {
	lab      *labs.Lab // of a study: at its scale
	baseline string
	spot
}

// folder is where the runs of a lab are stored.
func (p *Plan) folder(lab *labs.Lab) string { return filepath.Join(p.Out, runsFolder, lab.Name) }

// read looks through the runs of labs. Runs that were cut short count with the
// points that are whole.
func (p *Plan) read(studies []*study) (*stored, error) {
	s := &stored{points: make(map[string]found), compared: make(map[comparison]compare.Comparison)}
	seen := make(map[string]bool)
	for _, study := range studies {
		dir := p.folder(study.lab)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		entries, err := store.List(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			// What is being written moves when it is done, under who reads it.
			if e.State == results.Running || e.Points == 0 || e.Runtime != string(p.Runtime) || e.Start.Before(p.Since) {
				continue
			}
			if err := p.add(s, e.Dir); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// add takes the points of a run.
func (p *Plan) add(s *stored, dir string) error {
	run, err := store.Open(dir)
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
		s.points[keys[i]] = found{point, run.Manifest}
	}
	if v := run.Manifest.GitRevision; !slices.Contains(s.versions, v) {
		s.versions = append(s.versions, v)
	}
	return nil
}

// sweep removes what killed runs left of points that were never whole.
func sweep(dir string) error {
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
