package play

import (
	"aqmlab/orchestrator/simulated"
	"aqmlab/results"
	"aqmlab/results/coexist"
	"aqmlab/results/compare"
)

// Result is what both schemes measured, as the command's JSON has it.
type Result struct {
	Lab        string              `json:"lab"`
	Derived    []results.Derived   `json:"derived,omitempty"` // what the lab leaves to its schemes
	Runs       []compare.PointJSON `json:"runs"`
	Comparison compare.Comparison  `json:"comparison"`
	Warnings   []string            `json:"warnings"`
}

// Result compares the schemes once both are over.
func (s *Session) Result() (Result, error) {
	r := Result{Lab: s.lab.Name}
	var err error
	if r.Derived, err = s.lab.Derived(); err != nil {
		return r, err
	}
	manifest := simulated.ManifestOf(s.lab)
	var points []results.Point
	var judged []*coexist.Judgement
	for _, d := range s.sides {
		p := compare.PointJSONOf(d.point)
		if len(d.point.Delays) > 0 || len(coexist.PartiesOf(manifest, d.point.Flows).Names) > 1 {
			j := coexist.Judge(manifest, d.point, coexist.Usual())
			p.Coexistence = &j
		}
		r.Runs, points, judged = append(r.Runs, p), append(points, d.point), append(judged, p.Coexistence)
	}
	if r.Comparison, err = compare.Points(points, s.lab.Baseline); err != nil {
		return r, err
	}
	r.Comparison.Share(points, judged)
	r.Warnings = r.Comparison.Warnings
	return r, nil
}
