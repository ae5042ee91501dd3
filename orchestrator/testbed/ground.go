package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
)

// ground is a machine that has nodes of a testbed: this one, or another.
type ground interface {
	// machine is its name, or empty for this machine.
	machine() string
	// retime has its hosts run at another dilation.
	retime(ctx context.Context, dilation float64) error
	// counters are those of the kernels of its hosts, by the hosts' numbers.
	counters(ctx context.Context) (map[int]host.Counters, error)
	// used is what has been done so far on the CPUs of its hosts.
	used(ctx context.Context) (Usage, error)
	// others begins to watch for other programs that use the CPUs. The function that it
	// returns says which have.
	others(ctx context.Context) (func(context.Context) (string, error), error)
	// watch calls lose when a link of its switches is lost, until stop is called.
	watch(lose func(why error)) (stop func(), err error)
	// followRates has its hosts send at other rates, at times of its CLOCK_MONOTONIC. The
	// function that it returns ends that, and leaves the rates as they were.
	followRates(ctx context.Context, zero int64, all []Rerate) (end func() error, err error)
	// clock is the ground's CLOCK_MONOTONIC now, in ns.
	clock(ctx context.Context) (int64, error)
}

// Rerate is another rate of a host's link.
type Rerate struct {
	At   time.Duration // wall time since the replay's time zero
	Host int
	Rate int64 // bits per second on the wall
}

// here is the ground of a testbed whose nodes are all on this machine, or of the share of
// one that this machine has.
type here struct{ *Testbed }

func (h here) machine() string { return "" }

func (h here) clock(context.Context) (int64, error) { return host.Monotonic() }

func (h here) retime(_ context.Context, dilation float64) error {
	h.dilation = dilation
	h.dilatePlan()
	return h.net.Retime(h.plan)
}

func (h here) counters(context.Context) (map[int]host.Counters, error) {
	all := make(map[int]host.Counters)
	for i, one := range h.net.Hosts {
		if !h.plan.Here(one.Name) {
			continue
		}
		c, err := netns.Counters(one.Namespace)
		if err != nil {
			return nil, fmt.Errorf("reading the counters of %s: %w", one.Name, err)
		}
		all[i] = c
	}
	return all, nil
}

// Usage is what has been done so far on the hosts' CPUs. What other programs do
// there is no part of it: it makes a lab late, which is measured, and a dilation is
// no remedy for it.
type Usage struct {
	Lab   time.Duration // by the lab: its hosts' processes, and the kernel as packets come in
	Total time.Duration // that there was
}

// used reads the usage. In virtual time nobody needs it, and to read takes time.
func (h here) used(context.Context) (Usage, error) {
	if h.virtual {
		return Usage{}, nil
	}
	cpus, err := host.ReadCPUs(h.cpus.Hosts)
	if err != nil {
		return Usage{}, err
	}
	u := Usage{Lab: time.Duration(cpus.Interrupts) * host.Tick, Total: time.Duration(cpus.Total) * host.Tick}
	if h.contained {
		u.Lab += h.usedInContainers()
		return u, nil
	}
	for _, c := range h.hosts {
		p, err := host.ReadProcess(c.PID())
		if err != nil {
			return Usage{}, fmt.Errorf("reading what %s uses: %w", c.name, err)
		}
		u.Lab += p.CPU
	}
	return u, nil
}

// usedInContainers is what the hosts' agents have used, which are children of the first
// processes of their containers.
func (h here) usedInContainers() (sum time.Duration) {
	first := map[int]bool{}
	for _, c := range h.hosts {
		first[c.PID()] = true
	}
	for _, p := range host.Processes() {
		if first[p.PID] || first[p.Parent] {
			sum += p.CPU
		}
	}
	return sum
}

// since is the share of the CPUs that the lab has used since before.
func (u Usage) since(before Usage) float64 {
	if u.Total <= before.Total {
		return 0
	}
	return min(1, float64(u.Lab-before.Lab)/float64(u.Total-before.Total))
}

// others watches as [host.Load.Others] does; in virtual time they do not matter.
func (h here) others(context.Context) (func(context.Context) (string, error), error) {
	if h.virtual {
		return func(context.Context) (string, error) { return "", nil }, nil
	}
	before, err := host.ReadLoad()
	return func(context.Context) (string, error) {
		lab := []int{os.Getpid()}
		for _, c := range h.processes() {
			lab = append(lab, c.PID())
		}
		now, err := host.ReadLoad()
		return now.Others(before, lab...), err
	}, err
}

// watch watches the interfaces of the switches. Those of hosts are their other ends.
func (h here) watch(lose func(error)) (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for i, namespace := range h.net.Switches {
		name := h.plan.Switches[i]
		if !h.plan.Here(name) {
			continue
		}
		s, err := netns.Watch(namespace, func(link string) {
			lose(fmt.Errorf("the link between %s and %s is gone: an end of it was removed or set down; look for what changes interfaces here, such as a network manager or ip link, and run again", name, link))
		})
		if err != nil {
			stop()
			return nil, err
		}
		stops = append(stops, s)
	}
	return stop, nil
}

func (h here) followRates(ctx context.Context, zero int64, all []Rerate) (end func() error, err error) {
	start, err := host.WallTime(zero)
	if err != nil {
		return nil, err
	}
	var mine []Rerate
	for _, r := range all {
		if h.plan.Here(h.plan.Hosts[r.Host]) {
			mine = append(mine, r)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- h.makeRates(ctx, start, mine) }()
	return func() error {
		cancel()
		return errors.Join(<-done, h.restoreRates(mine))
	}, nil
}

// eachGround calls do for every ground of the testbed, and joins the errors.
func (t *Testbed) eachGround(do func(i int, g ground) error) error {
	var errs []error
	for i, g := range t.grounds {
		if err := do(i, g); err != nil {
			if name := g.machine(); name != "" {
				err = fmt.Errorf("machine %s: %w", name, err)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// usages are those of all grounds.
func (t *Testbed) usages(ctx context.Context) ([]Usage, error) {
	all := make([]Usage, len(t.grounds))
	return all, t.eachGround(func(i int, g ground) (err error) {
		all[i], err = g.used(ctx)
		return err
	})
}

// busiest is the share of CPUs that the lab has used since before, where it used most.
func busiest(before, now []Usage) float64 {
	most := 0.0
	for i := range now {
		most = max(most, now[i].since(before[i]))
	}
	return most
}

// watchOthers begins to watch for other programs that use the CPUs. The function
// that it returns says which have.
func (t *Testbed) watchOthers(ctx context.Context) (func(context.Context) (string, error), error) {
	all := make([]func(context.Context) (string, error), len(t.grounds))
	err := t.eachGround(func(i int, g ground) (err error) {
		all[i], err = g.others(ctx)
		return err
	})
	return func(ctx context.Context) (busy string, err error) {
		err = t.eachGround(func(i int, g ground) error {
			one, err := all[i](ctx)
			if one != "" && g.machine() != "" {
				one = "machine " + g.machine() + ": " + one
			}
			if busy == "" {
				busy = one
			}
			return err
		})
		return busy, err
	}, err
}
