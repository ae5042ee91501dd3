package check

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"aqmlab/labs/inventory"
	"aqmlab/orchestrator/doctor"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/machines"
	"aqmlab/orchestrator/testbed"
)

// Options are how machines are looked at.
type Options struct {
	Program string        // what runs on them; empty: this program
	Log     io.Writer     // gets what their processes complain about
	Over    time.Duration // of each measurement of throughput
	MTU     int           // host.mtu of the lab that they are for; 0: none
	Note    func(text string)
}

// what is how the list of labs calls a check.
const what = "machines check"

// Run looks at machines, side by side, and measures between each two of those that answer,
// one pair after another. What is wrong with one is in the report. The error is that of the
// end of ctx.
func Run(ctx context.Context, v inventory.Inventory, o Options) (Report, error) {
	j, err := journal.Create(ctx, journal.Root(), testbed.Info{Lab: what})
	if err != nil {
		return Report{}, err
	}
	c := &checking{Options: o, Inventory: v, journal: j}
	id := rand.Text()[:8]
	for i, m := range v.Machines {
		c.sites = append(c.sites, &site{Machine: m, container: fmt.Sprintf("aqm-check-%s-%d", id, i+1)})
	}
	o.Note(fmt.Sprintf("looking at %d machines", len(c.sites)))
	r := Report{Machines: c.machines(ctx)}
	c.twice(ctx, r.Machines)
	r.Pairs = c.pairs(ctx)
	unremoved := c.close(ctx)
	if err := errors.Join(c.forget(unremoved), context.Cause(ctx)); err != nil {
		return Report{}, errors.Join(append(unremoved, err)...)
	}
	for i, err := range unremoved {
		r.Machines[i].lacks(err)
	}
	r.judge()
	return r, nil
}

// forget ends the journal. Of what could not be removed it stays, and the next command tries
// again.
func (c *checking) forget(unremoved []error) error {
	if errors.Join(unremoved...) != nil {
		return c.journal.Close()
	}
	gone := func([]journal.Entry) error { return nil }
	return c.journal.Undo(journal.Undoers{journal.Machine: gone})
}

// twice tells the last of the machines that are one with another.
func (c *checking) twice(ctx context.Context, found []Machine) {
	var before []machines.Site
	for i, s := range c.sites {
		if s.stream == nil {
			continue
		}
		this := machines.Site{Machine: s.Machine, Engine: s.engine, Name: s.container}
		for _, other := range before {
			found[i].lacks(machines.CheckTwice(ctx, []machines.Site{other, this}))
		}
		before = append(before, this)
	}
}

// pairs measures between each two of the machines that answer.
func (c *checking) pairs(ctx context.Context) []Pair {
	var there []*site
	for _, s := range c.sites {
		if s.at.IsValid() {
			there = append(there, s)
		}
	}
	measured, of := []Pair{}, len(there)*(len(there)-1)/2 // none is an empty list in JSON
	for i, from := range there {
		for _, to := range there[i+1:] {
			if ctx.Err() != nil {
				return measured
			}
			c.Note(fmt.Sprintf("[%d/%d] measuring between %s and %s", len(measured)+1, of, from.Name, to.Name))
			measured = append(measured, c.pair(ctx, from, to))
		}
	}
	return measured
}

// checking is what is going on.
type checking struct {
	Options
	inventory.Inventory
	journal *journal.Journal
	sites   []*site
}

// machines looks at all machines. Those that have a place at which they answer can be
// measured.
func (c *checking) machines(ctx context.Context) []Machine {
	found := make([]Machine, len(c.sites))
	var all errgroup.Group
	for i, s := range c.sites {
		all.Go(func() error {
			found[i] = c.machine(ctx, s, i+1)
			return nil
		})
	}
	_ = all.Wait() // what is wrong is in the list
	return found
}

// machine looks at the machine of a number.
func (c *checking) machine(ctx context.Context, s *site, number int) Machine {
	m := Machine{Name: s.Name, Endpoint: s.Docker, Address: s.Address.String()}
	err := s.open(ctx, means{c.Program, c.Log, c.journal})
	if s.engine != nil {
		m.Docker = s.engine.Version()
	}
	var d doctor.Diagnosis
	if err == nil {
		d, err = s.look(ctx, c.Port)
	}
	if err != nil {
		m.lacks(err)
		return m
	}
	m.Diagnosis = &d
	if len(c.VLANs) > 0 && d.Ready {
		if err := s.tag(ctx, c.VLANs, number); err != nil {
			m.lacks(err)
			return m
		}
	}
	if a, err := s.answer(ctx, 0); err == nil { // or it has not this address, which is a finding
		s.at = a.At
	} else if d.Ready {
		m.lacks(err)
	}
	return m
}

// close removes what was made on the machines, and says of each why that failed.
func (c *checking) close(ctx context.Context) []error {
	errs := make([]error, len(c.sites))
	var all errgroup.Group
	for i, s := range c.sites {
		all.Go(func() error {
			errs[i] = s.close(ctx)
			return nil
		})
	}
	_ = all.Wait() // the errors are in the list
	return errs
}
