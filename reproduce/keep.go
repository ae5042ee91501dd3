package reproduce

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
)

// quickFolder has the records of the quick scale, which are no results: they are
// neither shown with those of the others nor spare the others a point.
const quickFolder = "quick"

// root is the folder of the plan's records.
func (p *Plan) root() string {
	if p.Scale == Quick {
		return filepath.Join(p.Out, quickFolder)
	}
	return p.Out
}

// records reads those of the plan's experiments, by their ids.
func (p *Plan) records() (map[string]*record, error) {
	all := make(map[string]*record)
	for _, s := range p.studies {
		if all[s.ID] != nil {
			continue
		}
		r, err := load(p.root(), s.paper, s.ID)
		if err != nil {
			return nil, err
		}
		all[s.ID] = r
	}
	return all, nil
}

// keep brings the record of an experiment up to what its runs hold.
func (p *Plan) keep(id string) error {
	i := slices.IndexFunc(p.studies, func(s *study) bool { return s.ID == id })
	if !p.studies[i].scored {
		return nil // it is only there for the claims of another
	}
	have, err := p.read(p.around(id))
	if err != nil {
		return err
	}
	fresh, err := p.harvest(have, id)
	if err != nil {
		return fmt.Errorf("recording %s: %w", id, err)
	}
	if len(fresh.Figures) == 0 {
		return nil
	}
	r, err := load(p.root(), p.studies[i].paper, id)
	if err != nil {
		return err
	}
	p.merge(r, fresh)
	p.prune(r)
	return r.save(p.root())
}

// around lists an experiment's studies, and those that its claims look at.
func (p *Plan) around(id string) []*study {
	var ids []string
	for _, s := range p.studies {
		for _, c := range s.Claims {
			if s.ID == id && c.In != "" {
				ids = append(ids, c.In)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(p.studies), func(s *study) bool { return s.ID != id && !slices.Contains(ids, s.ID) })
}

// keeper records an experiment whenever all points of a load are done, so that
// little is lost when the machine is.
type keeper struct {
	plan *Plan
	mu   sync.Mutex
	left map[batch]int // cells
	kept map[string]bool
}

// batch is an experiment at a load, or, without one, the whole of it.
type batch struct {
	experiment string
	load       float64
}

func (p *Plan) newKeeper(t Todo) *keeper {
	k := &keeper{plan: p, left: make(map[batch]int), kept: make(map[string]bool)}
	for _, c := range t.cells {
		for _, id := range c.experiments() {
			k.left[batch{id, c.jobs[0].Load}]++
			k.left[batch{experiment: id}]++
		}
	}
	return k
}

// experiments lists those whose claims need a cell, whichever has it in the plan.
func (c cell) experiments() (ids []string) {
	for _, j := range c.jobs {
		for _, w := range j.wants {
			if !slices.Contains(ids, w.study.ID) {
				ids = append(ids, w.study.ID)
			}
		}
	}
	return ids
}

// done counts a cell.
func (k *keeper) done(c cell) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range c.experiments() {
		whole, load := batch{experiment: id}, batch{id, c.jobs[0].Load}
		k.left[whole]--
		if k.left[load]--; k.left[load] > 0 {
			continue
		}
		k.kept[id] = k.left[whole] == 0
		if err := k.plan.keep(id); err != nil {
			return err
		}
	}
	return nil
}

// finish records what runs hold of the others, and writes the card of all papers
// with its figures beside the records.
func (k *keeper) finish() error {
	for _, s := range k.plan.studies {
		if k.kept[s.ID] {
			continue
		}
		k.kept[s.ID] = true
		if err := k.plan.keep(s.ID); err != nil {
			return err
		}
	}
	return publish(k.plan.Options)
}
