package reproduce

import (
	"fmt"

	"aqmlab/labs"
	"aqmlab/orchestrator/sweep"
	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/store"
)

// archive is what the store of a plan holds.
type archive struct {
	plan     *Plan
	compared map[comparison]compare.Comparison
}

// stored is a point, and what made its run.
type stored struct {
	point    store.Point
	manifest results.Manifest
}

// comparison is what has been compared.
type comparison struct {
	lab, base *labs.Lab // of the experiments of the scheme and of the baseline: at their scale
	baseline  string
	metric    string // of claims about some of the flows alone
	results.Coord
}

func (p *Plan) openArchive() *archive {
	return &archive{plan: p, compared: make(map[comparison]compare.Comparison)}
}

// store is where the plan's points lie.
func (p *Plan) store() sweep.Store { return sweep.Store{Dir: p.runs(), Kinds: p.Kinds, Warn: p.warn} }

// warn tells the user of a damaged point.
func (p *Plan) warn(text string) {
	if p.Log != nil {
		fmt.Fprintln(p.Log, "warning:", text)
	}
}

// find finds the points of a scheme at a load, of all seeds that are stored.
func (a *archive) find(e *experiment, at results.Coord) ([]stored, error) {
	var points []stored
	for _, seed := range e.lab.Seeds {
		at.Seed = seed
		key, err := a.plan.keys.Key(e.lab, at)
		if err != nil {
			return nil, err
		}
		run, err := a.plan.stored(key)
		if err != nil {
			return nil, err
		}
		if run != nil {
			points = append(points, stored{run.Points()[0], run.Manifest})
		}
	}
	return points, nil
}

// stored opens a point; nil: it is not there, or was measured too early.
func (p *Plan) stored(key string) (*store.Run, error) {
	s := p.store()
	if !s.Has(key) {
		return nil, nil
	}
	run, err := s.Open(key)
	if err != nil || run.Manifest.Start.Before(p.Since) {
		return nil, err
	}
	return run, nil
}
