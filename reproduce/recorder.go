package reproduce

import (
	"fmt"
	"slices"
	"sync"

	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
)

// updateRecord brings the record of an experiment up to what its runs hold.
func (p *Plan) updateRecord(id string) error {
	e := p.experiment(id)
	if !e.scored {
		return nil // it is only there for the claims of another
	}
	a, err := p.openArchive(p.withBaselines(id))
	if err != nil {
		return err
	}
	fresh, err := a.collect(id)
	if err != nil {
		return fmt.Errorf("recording %s: %w", id, err)
	}
	if len(fresh.Figures) == 0 {
		return nil
	}
	r, err := record.Load(p.records(), e.paper, id)
	if err != nil {
		return err
	}
	r.Merge(fresh, p.precedence())
	r.Figures = slices.DeleteFunc(r.Figures, func(f record.Figure) bool { return !p.claims(f.Claim) })
	return r.Save(p.records())
}

// withBaselines lists the experiments of an id, and those that their claims look at.
func (p *Plan) withBaselines(id string) []*experiment {
	ids := []string{id}
	for _, e := range p.experiments {
		for _, c := range e.Claims {
			if e.ID == id && c.In != "" {
				ids = append(ids, c.In)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(p.experiments), func(e *experiment) bool { return !slices.Contains(ids, e.ID) })
}

// claims tells whether the papers still claim what a record has a figure of.
func (p *Plan) claims(id string) bool {
	return slices.ContainsFunc(p.experiments, func(e *experiment) bool {
		return slices.ContainsFunc(e.Claims, func(c papers.Claim) bool { return c.ID == id && metric.NeedsRuns(c) })
	})
}

// recorder records an experiment whenever all points of a load are done, so that
// little is lost when the machine fails.
type recorder struct {
	plan     *Plan
	mu       sync.Mutex
	left     []job
	recorded map[string]bool // experiments, with all that their jobs measured
}

func (p *Plan) newRecorder(t Todo) *recorder {
	return &recorder{plan: p, left: slices.Clone(t.jobs), recorded: make(map[string]bool)}
}

// done takes a job off the list, and records the experiments that have none left at
// its load.
func (r *recorder) done(j job) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = slices.DeleteFunc(r.left, func(o job) bool { return o.points[0].key == j.points[0].key })
	for _, id := range j.experiments() {
		left := slices.DeleteFunc(slices.Clone(r.left), func(o job) bool { return !slices.Contains(o.experiments(), id) })
		if slices.ContainsFunc(left, func(o job) bool { return o.points[0].Load == j.points[0].Load }) {
			continue
		}
		r.recorded[id] = len(left) == 0
		if err := r.plan.updateRecord(id); err != nil {
			return err
		}
	}
	return nil
}

// finish records what runs hold of the others, and writes the card of all papers
// with its figures beside the records.
func (r *recorder) finish() error {
	for _, e := range r.plan.experiments {
		if r.recorded[e.ID] {
			continue
		}
		r.recorded[e.ID] = true
		if err := r.plan.updateRecord(e.ID); err != nil {
			return err
		}
	}
	return publish(r.plan.Options)
}
