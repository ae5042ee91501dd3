package reproduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/papers"
)

// Todo is what a plan has yet to run.
type Todo struct {
	Points int           // to be run
	Stored int           // that are there already, as runs or in records
	Takes  time.Duration // about: on this many cores, or on real hosts without dilation
	// Versions are those of aqmlab that measured what is stored, when they are not
	// this one alone.
	Versions []string

	cells  []cell
	factor float64
}

// cell is what one run measures: a point in virtual time, and on real hosts all
// schemes of a load and seed, which share a testbed and its dilation.
type cell struct {
	jobs []job
	cost float64
}

// Todo compares the plan with what is stored and recorded.
func (p *Plan) Todo() (Todo, error) {
	have, err := p.read(p.studies)
	if err != nil {
		return Todo{}, err
	}
	records, err := p.records()
	if err != nil {
		return Todo{}, err
	}
	var t Todo
	if !slices.Equal(have.versions, []string{thisVersion()}) {
		t.Versions = have.versions
	}
	for _, j := range p.jobs {
		_, there := have.points[j.key]
		switch {
		case there || p.recorded(j, records):
			t.Stored++
		case p.needed(j):
			t.Points++
			t.add(j, p.virtual())
		}
	}
	t.order()
	t.Takes = t.takes(p.workers())
	return t, nil
}

// order puts the dearest experiments first, so that at the end small points keep
// all workers busy; the points of an experiment and a load stay together, so that
// they are recorded soon.
func (t *Todo) order() {
	dearest := make(map[string]float64)
	for _, c := range t.cells {
		id := c.jobs[0].study.ID
		dearest[id] = max(dearest[id], c.cost)
	}
	slices.SortStableFunc(t.cells, func(a, b cell) int {
		x, y := a.jobs[0].study.ID, b.jobs[0].study.ID
		return cmp.Or(cmp.Compare(dearest[y], dearest[x]), strings.Compare(x, y), cmp.Compare(b.jobs[0].Load, a.jobs[0].Load), cmp.Compare(b.cost, a.cost))
	})
}

// Share is the part of a plan that is one experiment's.
type Share struct {
	Paper, Experiment string
	Points            int
	Takes             time.Duration // about: on one core, or on real hosts without dilation
}

// Shares lists what experiments have to run, the dearest first.
func (t Todo) Shares() (shares []Share) {
	for _, c := range t.cells {
		s := c.jobs[0].study
		i := slices.IndexFunc(shares, func(o Share) bool { return o.Experiment == s.ID })
		if i < 0 {
			i, shares = len(shares), append(shares, Share{Paper: s.paper, Experiment: s.ID})
		}
		shares[i].Points += len(c.jobs)
		shares[i].Takes += time.Duration(c.cost * t.pace() * float64(time.Second))
	}
	slices.SortStableFunc(shares, func(a, b Share) int { return cmp.Compare(b.Takes, a.Takes) })
	return shares
}

// pace is what [Plan.Calibrate] found: how many seconds a second of expected work
// takes.
func (t Todo) pace() float64 { return cmp.Or(t.factor, 1) }

// runs tells whether an experiment is run on the plan's runtime: on real hosts
// those that the paper ran on a testbed.
func (p *Plan) runs(s *study) bool {
	return p.Runtime.Facts().Modelled || s.Environment == papers.Testbed
}

// needed tells whether a point is run on the plan's runtime: for any of the
// experiments that look at it, whichever has it in the plan.
func (p *Plan) needed(j job) bool {
	return slices.ContainsFunc(j.wants, func(w want) bool { return p.runs(w.study) })
}

// add puts a point in a cell. Experiments may share a lab, and then its testbed.
func (t *Todo) add(j job, alone bool) {
	lab := j.study.lab
	i := slices.IndexFunc(t.cells, func(c cell) bool {
		o := c.jobs[0]
		return o.study.lab.Name == lab.Name && o.study.lab.Workload.Flows == lab.Workload.Flows && o.Load == j.Load && o.Seed == j.Seed
	})
	if alone || i < 0 {
		t.cells = append(t.cells, cell{[]job{j}, j.cost})
		return
	}
	t.cells[i].jobs = append(t.cells[i].jobs, j)
	t.cells[i].cost += j.cost
}

// takes is how long the cells keep so many workers busy, each taking the next
// when it is done with one.
func (t *Todo) takes(workers int) time.Duration {
	free := make([]float64, workers)
	for _, c := range t.cells {
		next := 0
		for i := range free {
			if free[i] < free[next] {
				next = i
			}
		}
		free[next] += c.cost
	}
	return time.Duration(slices.Max(free) * float64(time.Second))
}

// virtual tells whether the plan's time is virtual, so that points can be run
// beside each other.
func (p *Plan) virtual() bool {
	return p.Runtime.Facts().Virtual
}

// workers is how many cells run at once. Real hosts on the wall clock share it.
func (p *Plan) workers() int {
	switch {
	case !p.virtual():
		return 1
	case p.Jobs > 0:
		return p.Jobs
	}
	return runtime.NumCPU()
}

// Progress is how far a plan has come.
type Progress struct {
	Points int // that are done
	Of     int
	Left   time.Duration // about
	Just   string        // what has just been done, or what there is to say
}

// Run runs what is to do, and tells watch how it goes on, one call at a time.
// Each point is stored when it is done, each experiment recorded when it has all
// its points; after an error, or when ctx ends, what is done stays and is recorded,
// and another Run goes on with the rest.
func (p *Plan) Run(ctx context.Context, t Todo, watch func(Progress)) error {
	for _, s := range p.studies {
		if err := sweep(p.folder(s.lab)); err != nil {
			return err
		}
	}
	m := newMeter(t, watch)
	m.quiet = p.Runtime.Facts().Modelled // each point would tell on what it runs
	keeper := p.newKeeper(t)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.workers())
	for i, c := range t.cells {
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := p.runCell(ctx, c, m.watcher(i)); err != nil {
				return err
			}
			return keeper.done(c)
		})
	}
	return errors.Join(group.Wait(), keeper.finish())
}

// runCell runs and stores a cell.
func (p *Plan) runCell(ctx context.Context, c cell, w orchestrator.Watcher) error {
	first := c.jobs[0]
	var schemes []string
	for _, j := range c.jobs {
		schemes = append(schemes, j.Scheme)
	}
	lab, err := first.study.lab.Restricted(schemes, first.Load, first.Seed)
	if err != nil {
		return err
	}
	_, err = orchestrator.Run(ctx, lab, orchestrator.RunOptions{
		Log:     p.Log,
		Runtime: p.Runtime,
		Jobs:    1,
		Out:     p.folder(first.study.lab),
		Watcher: w,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", first.study, err)
	}
	return nil
}
