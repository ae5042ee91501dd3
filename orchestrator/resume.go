package orchestrator

import (
	"errors"
	"fmt"
	"path/filepath"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
	"aqmlab/results/store"
	"aqmlab/switch/port"
	"aqmlab/trafficgen/traffic"
)

// ErrNotResumed is wrapped by the errors that say why a run cannot go on.
var ErrNotResumed = errors.New("cannot go on")

// LabOf is the lab of a stored run, whose schemes and scheduler are of those
// kinds.
func LabOf(run *store.Run, kinds port.Kinds) (*labs.Lab, error) {
	return labs.ParseOf(kinds, filepath.Join(run.Dir, "lab.yaml"), run.LabYAML)
}

// known is what tells the points of a run and of the lab that it goes on with apart. It
// is what the lab says of them ([labs.Lab.PointText]), as it is in the keys of a sweep's
// points. Those keys say more, the program, the machine and the contents of files, since
// nothing else keeps their points apart. A run may go on under another version of the
// program: its manifest and its flows are compared instead, and its dilation is kept.
func known(lab *labs.Lab, on backend.Row, at results.Coord) (string, error) {
	same := *lab
	same.Dilation = 0
	if !on.Containers {
		same = *same.OnOneMachine()
	}
	text, err := same.PointText(at.Scheme)
	return fmt.Sprintf("%v %s", at, text), err
}

// takeUp leaves of the points those that the run to be resumed does not have,
// and the lab with the run's dilation. It refuses, with [ErrNotResumed], a run
// that was made of another lab, in another way, or on other flows.
func takeUp(lab *labs.Lab, points []backend.Point, on backend.Row, run *store.Run) (*labs.Lab, []backend.Point, error) {
	refused := func(err error) (*labs.Lab, []backend.Point, error) {
		return nil, nil, fmt.Errorf("run %s %w: %w", filepath.Base(run.Dir), ErrNotResumed, err)
	}
	yaml, err := lab.YAML()
	if err != nil {
		return nil, nil, err
	}
	m := backend.ManifestOf(lab)
	m.Runtime = on.Name
	if !on.OwnKernel {
		m.Host.Kernel = ""
	}
	if !on.Virtual {
		m.Dilation = float64(lab.Dilation)
	}
	if err := run.CheckResumable(m, yaml); err != nil {
		return refused(err)
	}
	own, err := LabOf(run, lab.Kinds)
	if err != nil {
		return refused(err)
	}
	have := make(map[string]store.Point)
	for _, p := range run.Points() {
		key, err := known(own, on, p.Coord)
		if err != nil {
			return refused(fmt.Errorf("reading %s: %w", run.Dir, err))
		}
		have[key] = p
	}
	var left []backend.Point
	for _, p := range points {
		key, err := known(lab, on, p.Coord)
		if err != nil {
			return nil, nil, err
		}
		stored, ok := have[key]
		if !ok {
			left = append(left, p)
			continue
		}
		if err := stored.Check(); err != nil {
			return refused(fmt.Errorf("%w; %s", err, store.Remedy(run.Dir)))
		}
		if err := sameFlows(p, stored); err != nil {
			return refused(err)
		}
	}
	paced := *lab
	if !on.Virtual {
		paced.Dilation = labs.Dilation(run.Manifest.Dilation)
	}
	return &paced, left, nil
}

// sameFlows wants a stored point to have replayed the flows of the plan: a trace
// file may be another by now.
func sameFlows(p backend.Point, stored store.Point) error {
	measured, err := stored.ReadFlows()
	if err != nil {
		return err
	}
	other := func(what string, values ...any) error {
		return fmt.Errorf("%v replayed other flows: "+what, append([]any{p.Coord}, values...)...)
	}
	if len(measured.Flows) != len(p.Flows) {
		return other("%d, and the lab has %d now", len(measured.Flows), len(p.Flows))
	}
	for _, r := range measured.Flows {
		if r.ID < 0 || r.ID >= int64(len(p.Flows)) || !records(r, p.Flows[r.ID]) {
			return other("flow %d is another now", r.ID)
		}
	}
	return nil
}

// records tells whether a record is of that flow.
func records(r results.Flow, f traffic.Flow) bool {
	return r.Start == f.Start && int(r.Client) == f.Client && int(r.Server) == f.Server && int(r.Service) == f.Service && (r.Stops || r.Bytes == f.Bytes)
}
