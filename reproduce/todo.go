package reproduce

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"time"

	"aqmlab/reproduce/record"
)

// Todo is what a plan has yet to run.
type Todo struct {
	Points int           // to be run
	Stored int           // that are there already, as runs or in records
	Takes  time.Duration // about: on this many cores, or on real hosts without dilation

	points []point
	factor float64
}

// neededBy lists the experiments whose claims need a point. Its own may be another, as
// experiments share labs.
func (p point) neededBy() (ids []string) {
	for _, need := range p.purposes {
		if !slices.Contains(ids, need.experiment.ID) {
			ids = append(ids, need.experiment.ID)
		}
	}
	return ids
}

// Todo compares the plan with what is stored and recorded.
func (p *Plan) Todo() (Todo, error) {
	records, err := p.loadRecords()
	if err != nil {
		return Todo{}, err
	}
	var t Todo
	for _, one := range p.points {
		if _, err := p.store().Whole(one.key); err != nil { // what is damaged is run again
			return Todo{}, err
		}
		there, err := p.stored(one.key)
		if err != nil {
			return Todo{}, err
		}
		switch {
		case there != nil || p.recorded(one, records):
			t.Stored++
		case slices.ContainsFunc(one.purposes, func(need purpose) bool { return p.runsHere(need.experiment) }):
			t.Points++
			t.points = append(t.points, one)
		}
	}
	t.order()
	t.Takes = t.takes(p.workers())
	return t, nil
}

// recorded tells whether all that a point is needed for stands in the records, of
// as many flows and seeds as the plan has, or more, and not measured too early.
func (p *Plan) recorded(one point, records map[string]*record.Record) bool {
	return !slices.ContainsFunc(one.purposes, func(need purpose) bool {
		lab := need.experiment.lab
		return !slices.ContainsFunc(p.shelf(records, need.experiment, need.claim), func(f shelved) bool {
			return f.current && f.Scheme == need.Scheme && f.Load == need.Load && f.Runtime == string(p.Runtime) &&
				f.Flows >= lab.Workload.Flows && f.Seeds >= len(lab.Seeds) && !f.Measured.Before(p.Since)
		})
	})
}

// workers is how many jobs run at once. Real hosts on the wall clock share it.
func (p *Plan) workers() int {
	if p.virtual() {
		return cmp.Or(p.Jobs, runtime.NumCPU())
	}
	return 1
}

// order puts the dearest experiments first, so that at the end small points keep
// all workers busy; the points of an experiment and a load stay together, so that
// they are recorded soon.
func (t *Todo) order() {
	dearest := make(map[string]float64)
	for _, p := range t.points {
		dearest[p.experiment.ID] = max(dearest[p.experiment.ID], p.cost)
	}
	slices.SortStableFunc(t.points, func(x, y point) int {
		return cmp.Or(cmp.Compare(dearest[y.experiment.ID], dearest[x.experiment.ID]), strings.Compare(x.experiment.ID, y.experiment.ID),
			cmp.Compare(y.Load, x.Load), cmp.Compare(y.cost, x.cost))
	})
}

// takes is how long the points keep so many workers busy, each taking the next
// when it is done with one.
func (t *Todo) takes(workers int) time.Duration {
	free := make([]float64, workers)
	for _, p := range t.points {
		free[slices.Index(free, slices.Min(free))] += p.cost
	}
	return time.Duration(slices.Max(free) * float64(time.Second))
}

// Estimate is what one experiment of a plan has to run.
type Estimate struct {
	Paper, Experiment string
	Points            int
	Takes             time.Duration // about: on one core, or on real hosts without dilation
}

// ByExperiment lists what experiments have to run, the dearest first.
func (t Todo) ByExperiment() (all []Estimate) {
	for _, p := range t.points {
		e := p.experiment
		i := slices.IndexFunc(all, func(o Estimate) bool { return o.Experiment == e.ID })
		if i < 0 {
			i, all = len(all), append(all, Estimate{Paper: e.paper, Experiment: e.ID})
		}
		all[i].Points++
		all[i].Takes += time.Duration(p.cost * cmp.Or(t.factor, 1) * float64(time.Second))
	}
	slices.SortStableFunc(all, func(a, b Estimate) int { return cmp.Compare(b.Takes, a.Takes) })
	return all
}
