package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
)

// Runner runs the programs of a point. Its methods are called one at a time.
type Runner struct {
	config  Config
	running []*running
	counts  map[int]*accountant // by host
	left    atomic.Int64        // programs that have not ended and do not serve
}

// Launch readies the programs, and starts those that listen. It returns when these do.
// After an error nothing runs.
func Launch(ctx context.Context, c Config, place func(host int) Place) (*Runner, error) {
	r := &Runner{config: c, counts: make(map[int]*accountant)}
	for _, s := range c.Programs {
		p, err := ready(s, place(s.Host))
		if err == nil {
			r.add(p)
			err = r.count(s.Host, place(s.Host).Namespace)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("starting %s: %w", s.name(), err), r.Close())
		}
	}
	if err := r.listening(ctx, place); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// count has a host's connections counted from now on, if they are not.
func (r *Runner) count(host int, namespace string) error {
	if r.counts[host] != nil {
		return nil
	}
	a, err := newAccountant(namespace, r.config.others)
	if err != nil {
		return fmt.Errorf("counting connections: %w", err)
	}
	r.counts[host] = a
	return nil
}

// add waits for the end of a program from now on.
func (r *Runner) add(p *running) {
	r.running = append(r.running, p)
	if !p.Serves {
		r.left.Add(1)
	}
	go func() {
		p.wait()
		if !p.Serves {
			r.left.Add(-1)
		}
	}()
}

// listening starts the programs that listen, and waits until they do.
func (r *Runner) listening(ctx context.Context, place func(int) Place) error {
	for _, p := range r.running {
		if len(p.Listens) == 0 {
			continue
		}
		if err := p.begin(0); err != nil {
			return fmt.Errorf("starting %s: %w", p.name(), err)
		}
	}
	limit, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for _, p := range r.running {
		if err := p.awaitPorts(limit, place(p.Host).Namespace); err != nil {
			return fmt.Errorf("starting %s: %w", p.name(), err)
		}
	}
	return nil
}

// Begin starts the others at their times, from a time zero of CLOCK_MONOTONIC on, and
// has programs stop that are to.
func (r *Runner) Begin(zero int64) error {
	now, err := host.Monotonic()
	if err != nil {
		return err
	}
	for _, p := range r.running {
		if len(p.Listens) == 0 {
			if err := p.begin(zero + int64(r.config.wall(p.At))); err != nil {
				return fmt.Errorf("starting %s: %w", p.name(), err)
			}
		}
		if p.Serves {
			continue
		}
		end := time.Duration(zero-now) + r.config.wall(cmp.Or(p.Stop, Longest))
		p.timer = time.AfterFunc(end, p.halt)
	}
	return nil
}

// Left counts the programs that have not ended and do not serve.
func (r *Runner) Left() int { return int(r.left.Load()) }

// Finish stops what serves, waits for all to end, and says how they did. The error says
// what could not be counted or removed.
func (r *Runner) Finish() ([]Ended, error) {
	for _, p := range r.running {
		if p.Serves {
			go p.halt()
		}
	}
	for _, p := range r.running {
		<-p.ended
	}
	err := r.account()
	var all []Ended
	for _, p := range r.running {
		all = append(all, p.result)
	}
	return all, errors.Join(err, r.tidy())
}

// account gives each program its connections, when all have ended. Where the kernel told
// of more than could be listened to, programs are not counted.
func (r *Runner) account() error {
	for host, a := range r.counts {
		delete(r.counts, host)
		byPort, err := a.end()
		if errors.Is(err, unix.ENOBUFS) {
			continue
		}
		if err != nil {
			return fmt.Errorf("counting connections: %w", err)
		}
		var on []*running
		for _, p := range r.running {
			if p.Host == host {
				on = append(on, p)
			}
		}
		share(byPort, on)
	}
	return nil
}

// Close kills what runs.
func (r *Runner) Close() error {
	for _, p := range r.running {
		p.kill()
	}
	for _, p := range r.running {
		<-p.ended
	}
	return r.tidy()
}

func (r *Runner) tidy() error {
	var errs []error
	for _, a := range r.counts {
		errs = append(errs, a.close())
	}
	r.counts = nil
	for _, p := range r.running {
		if p.timer != nil {
			p.timer.Stop()
		}
		if p.orders != nil {
			errs = append(errs, p.orders.Close())
		}
		errs = append(errs, os.RemoveAll(p.dir))
	}
	return errors.Join(errs...)
}
