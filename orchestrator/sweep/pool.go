package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/results"
)

// Unit is a point that is to be measured and stored.
type Unit struct {
	results.Coord
	Key  string
	Lab  func() (*labs.Lab, error) // that the point is one of
	Set  string                    // units of one set have one lab, and share its hosts on the wall clock
	Cost float64                   // of its measurement, beside that of others
}

// Pool measures units on this machine, as many at once as the runtime allows.
type Pool struct {
	Store   Store
	Runtime orchestrator.Runtime
	Jobs    int       // points at once in virtual time; zero: one a CPU
	Root    string    // folder of the state of all labs; empty: that of the environment
	Log     io.Writer // gets what helper processes complain about; may be nil
}

// Event is news of a unit.
type Event struct {
	Unit
	Done  bool          // it is stored, and Took says how long it was measured; zero where another process has
	Took  time.Duration // wall time
	Err   error         // it failed for this reason
	Share float64       // of it that is measured, from 0 to 1
	Low   []string      // why its fidelity is low
	Note  string        // what the user should know
}

// workers is how many units are measured at once.
func (p Pool) workers() int {
	if p.Runtime.Facts().Virtual {
		return cmp.Or(p.Jobs, runtime.NumCPU())
	}
	return 1
}

// Run measures units, and tells watch how it goes on, one call at a time. Units that
// are stored, by whomever, are not measured again. One that fails keeps no other from
// being measured; only a store that cannot be written, and the end of ctx, end a Run
// early.
func (p Pool) Run(ctx context.Context, units []Unit, watch func(Event)) error {
	var mu sync.Mutex
	tell := func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		watch(e)
	}
	for wait := false; len(units) > 0; wait = true {
		if wait { // for other processes, which have what is left
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(time.Second):
			}
		}
		busy, err := p.pass(ctx, units, tell)
		if err != nil {
			return err
		}
		units = busy
	}
	return nil
}

// pass measures units but for those that other processes are measuring, which it
// returns.
func (p Pool) pass(ctx context.Context, units []Unit, tell func(Event)) (busy []Unit, err error) {
	var mu sync.Mutex
	group, running := errgroup.WithContext(ctx)
	slots := make(chan struct{}, p.workers())
	group.SetLimit(2 * p.workers()) // as many may wait for the disk
	for _, together := range p.jobs(units) {
		group.Go(func() error {
			slots <- struct{}{}
			free := sync.OnceFunc(func() { <-slots })
			defer free()
			if running.Err() != nil {
				return context.Cause(running)
			}
			if !p.Runtime.Facts().Virtual { // nothing goes on beside what is measured
				free = func() {}
			}
			others, err := p.claimed(running, together, watching{tell, free})
			mu.Lock()
			defer mu.Unlock()
			busy = append(busy, others...)
			return err
		})
	}
	return busy, group.Wait()
}

// jobs are the units that are measured in one go: one in virtual time, and on the wall
// clock those that share hosts.
func (p Pool) jobs(units []Unit) (jobs [][]Unit) {
	if p.Runtime.Facts().Virtual {
		return slices.Collect(slices.Chunk(units, 1))
	}
	number := make(map[string]int)
	for _, u := range units {
		if _, ok := number[u.Set]; !ok {
			number[u.Set] = len(jobs)
			jobs = append(jobs, nil)
		}
		jobs[number[u.Set]] = append(jobs[number[u.Set]], u)
	}
	return jobs
}

// watching is who is told while units are measured.
type watching struct {
	tell    func(Event)
	storing func() // a unit is measured, and waits for the disk
}

// claimed measures those of some units of one set that it can claim, and returns those
// that other processes have.
func (p Pool) claimed(ctx context.Context, units []Unit, w watching) (busy []Unit, err error) {
	var mine []Unit
	for _, u := range units {
		release, err := p.Store.claim(u.Key)
		switch {
		case errors.Is(err, errBusy):
			busy = append(busy, u)
		case errors.Is(err, errStored):
			w.tell(Event{Unit: u, Done: true})
		case err != nil:
			return nil, fmt.Errorf("%w: %w", errStoring, err)
		default:
			defer release()
			mine = append(mine, u)
		}
	}
	for len(mine) > 0 {
		if mine, err = p.measure(ctx, mine, w); err != nil {
			return nil, err
		}
	}
	return busy, nil
}

// measure measures units until one fails, and returns those that are left then.
func (p Pool) measure(ctx context.Context, units []Unit, told watching) (left []Unit, err error) {
	w := &unitWatcher{units: units, tell: told.tell}
	fail := func(err error, failed []Unit) {
		for _, u := range failed {
			told.tell(Event{Unit: u, Err: err})
		}
	}
	lab, err := units[0].Lab()
	if err != nil {
		fail(err, units)
		return nil, nil
	}
	k := &keeper{store: p.Store, lab: lab, keys: make(map[results.Coord]string), storing: told.storing, stored: w.stored}
	var wanted []results.Coord
	for _, u := range units {
		k.keys[u.Coord] = u.Key
		wanted = append(wanted, u.Coord)
	}
	_, err = orchestrator.Run(ctx, lab, orchestrator.RunOptions{
		Log:     p.Log,
		Root:    p.Root,
		Runtime: p.Runtime,
		Jobs:    1,
		Watcher: w,
		Points:  wanted,
		Keep: func(m results.Manifest) (orchestrator.Keeper, error) {
			k.manifest = m
			return k, nil
		},
	})
	switch {
	case err == nil:
		return nil, nil
	case ctx.Err() != nil, errors.Is(err, errStoring):
		return nil, err
	}
	left = slices.DeleteFunc(slices.Clone(units), func(u Unit) bool { return slices.Contains(w.ended, u.Coord) })
	if w.current == nil { // the hosts never came up
		fail(err, left)
		return nil, nil
	}
	at := slices.IndexFunc(left, func(u Unit) bool { return u.Coord == *w.current })
	fail(err, left[at:at+1])
	return slices.Delete(left, at, at+1), nil
}
