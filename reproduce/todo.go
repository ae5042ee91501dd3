package reproduce

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"time"

	"aqmlab/reproduce/record"
	"aqmlab/results"
)

// Todo is what a plan has yet to run.
type Todo struct {
	Points int           // to be run
	Stored int           // that are there already, as runs or in records
	Takes  time.Duration // about: on this many cores, or on real hosts without dilation
	// Versions are those of aqmlab that measured what is stored, when they are not
	// this one alone.
	Versions []string

	jobs   []job
	factor float64
}

// job is what one run measures: a point in virtual time, and on real hosts all
// schemes of a load and seed, which share a testbed and its dilation.
type job struct {
	points []point
	cost   float64
}

// experiments lists those whose claims need a job. The job's own may be another, as
// experiments share labs.
func (j job) experiments() (ids []string) {
	for _, p := range j.points {
		for _, need := range p.purposes {
			if !slices.Contains(ids, need.experiment.ID) {
				ids = append(ids, need.experiment.ID)
			}
		}
	}
	return ids
}

// Todo compares the plan with what is stored and recorded.
func (p *Plan) Todo() (Todo, error) {
	a, err := p.openArchive(p.experiments)
	if err != nil {
		return Todo{}, err
	}
	records, err := p.loadRecords()
	if err != nil {
		return Todo{}, err
	}
	var t Todo
	if _, this := results.ThisBuild(); !slices.Equal(a.versions, []string{this}) {
		t.Versions = a.versions
	}
	for _, one := range p.points {
		_, there := a.points[one.key]
		switch {
		case there || p.recorded(one, records):
			t.Stored++
		case slices.ContainsFunc(one.purposes, func(need purpose) bool { return p.runsHere(need.experiment) }):
			t.Points++
			t.add(one, p.virtual())
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
		return !slices.ContainsFunc(records[need.experiment.ID].Figures, func(f record.Figure) bool {
			return f.Claim == need.claim.ID && f.Scheme == need.Scheme && f.Load == need.Load && f.Runtime == string(p.Runtime) &&
				f.Flows >= lab.Workload.Flows && f.Seeds >= len(lab.Seeds) && !f.Measured.Before(p.Since) && p.isCurrent(f)
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

// add puts a point in a job, alone or with the others of its testbed. Experiments
// may share a lab, and then its testbed.
func (t *Todo) add(one point, alone bool) {
	lab := one.experiment.lab
	i := slices.IndexFunc(t.jobs, func(j job) bool {
		o := j.points[0]
		return o.experiment.lab.Name == lab.Name && o.experiment.lab.Workload.Flows == lab.Workload.Flows && o.Load == one.Load && o.Seed == one.Seed
	})
	if alone || i < 0 {
		t.jobs = append(t.jobs, job{[]point{one}, one.cost})
		return
	}
	t.jobs[i].points = append(t.jobs[i].points, one)
	t.jobs[i].cost += one.cost
}

// order puts the dearest experiments first, so that at the end small points keep
// all workers busy; the points of an experiment and a load stay together, so that
// they are recorded soon.
func (t *Todo) order() {
	dearest := make(map[string]float64)
	for _, j := range t.jobs {
		id := j.points[0].experiment.ID
		dearest[id] = max(dearest[id], j.cost)
	}
	slices.SortStableFunc(t.jobs, func(a, b job) int {
		x, y := a.points[0], b.points[0]
		return cmp.Or(cmp.Compare(dearest[y.experiment.ID], dearest[x.experiment.ID]), strings.Compare(x.experiment.ID, y.experiment.ID),
			cmp.Compare(y.Load, x.Load), cmp.Compare(b.cost, a.cost))
	})
}

// takes is how long the jobs keep so many workers busy, each taking the next
// when it is done with one.
func (t *Todo) takes(workers int) time.Duration {
	free := make([]float64, workers)
	for _, j := range t.jobs {
		free[slices.Index(free, slices.Min(free))] += j.cost
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
	for _, j := range t.jobs {
		e := j.points[0].experiment
		i := slices.IndexFunc(all, func(o Estimate) bool { return o.Experiment == e.ID })
		if i < 0 {
			i, all = len(all), append(all, Estimate{Paper: e.paper, Experiment: e.ID})
		}
		all[i].Points += len(j.points)
		all[i].Takes += time.Duration(j.cost * cmp.Or(t.factor, 1) * float64(time.Second))
	}
	slices.SortStableFunc(all, func(a, b Estimate) int { return cmp.Compare(b.Takes, a.Takes) })
	return all
}
