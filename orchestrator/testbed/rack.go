package testbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/docker"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/machines"
	"aqmlab/orchestrator/netns"
)

// upOnMachines brings up a lab on several machines: a site on each, which brings up its
// share.
func (t *Testbed) upOnMachines(ctx context.Context, o Options) error {
	spec, err := t.lab.Fabric(t.lab.Baseline, 0)
	if err != nil {
		return err
	}
	if t.journal, err = journal.Create(ctx, o.root(), Info{Lab: t.lab.Name}); err != nil {
		return err
	}
	t.planFor(spec)
	if len(spec.Switches) > 1 {
		split(&t.plan, spec)
	}
	if err := t.reach(ctx, o); err != nil {
		return err
	}
	if image := t.lab.Host.Container.Image; image != "" {
		if err := t.eachRemote(func(r *remote) error { return r.needImage(ctx, image) }); err != nil {
			return err
		}
	}
	place, err := machines.Place(spec, t.capacities(), t.lab.Placement)
	if err != nil {
		return err
	}
	lab, err := t.lab.YAML()
	if err != nil {
		return err
	}
	share := Share{Lab: lab, Owner: t.owner(), Stays: o.Detached, Spread: t.spread(place)}
	if err := t.checkSpread(share.Spread); err != nil {
		return err
	}
	all, inner := errgroup.WithContext(ctx)
	for _, r := range t.remotes {
		all.Go(func() error { return r.bringUp(inner, share) })
	}
	if err := all.Wait(); err != nil {
		return err
	}
	t.adoptParts()
	if t.lead, err = t.startLead(ctx); err != nil {
		return err
	}
	if _, err := t.compareClocks(ctx); err != nil {
		return err
	}
	if o.Detached {
		return nil
	}
	return t.watchLinks()
}

// spread lays the lab out over its machines.
func (t *Testbed) spread(place map[string]string) netns.Spread {
	s := netns.Spread{
		Machines: place, Outer: map[string]netip.Addr{}, Port: t.lab.Rack.Port, First: t.firstVNI(),
		VLANs: t.lab.Rack.VLANs, Interfaces: map[string]string{}, Number: t.number(),
	}
	for _, r := range t.remotes {
		s.Outer[r.Name], s.Interfaces[r.Name] = r.Address, r.Interface
	}
	return s
}

// checkSpread refuses, before anything is made, what no machine could build.
func (t *Testbed) checkSpread(s netns.Spread) error {
	p := t.plan
	p.Spread = &s
	_, err := p.Lab(t.journal.ID())
	return err
}

// owner is what machines know this process's lab by.
func (t *Testbed) owner() string { return Owner(t.journal) }

// Owner is what machines know by whose journal names what is on them.
func Owner(j *journal.Journal) string {
	name, err := os.Hostname()
	if err != nil {
		name = "?"
	}
	return name + "/" + j.ID()
}

// linksOfLab is how many links of a lab have a VNI of their own before those of the next
// one begin: labs that share machines rarely have the same.
const linksOfLab = 257

// firstVNI is that of the lab's first link.
func (t *Testbed) firstVNI() int { return int(t.number()) * linksOfLab % netns.VNIs }

// number is the lab's id as a number.
func (t *Testbed) number() uint16 {
	id, _ := strconv.ParseUint(t.journal.ID(), 16, 16) // four digits: see package journal
	return uint16(id)
}

// reach starts a site on each machine.
func (t *Testbed) reach(ctx context.Context, o Options) error {
	var entries []journal.Entry
	for i, m := range t.lab.Rack.Machines {
		r := &remote{Machine: m, owner: t.owner(), site: fmt.Sprintf("aqm-%s-site-%d", t.journal.ID(), i+1)}
		t.remotes = append(t.remotes, r)
		e, err := r.entry()
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	if err := t.journal.Record(entries...); err != nil {
		return err
	}
	all, inner := errgroup.WithContext(ctx)
	for _, r := range t.remotes {
		all.Go(func() error {
			if err := r.open(inner, o.Program, o.Log); err != nil {
				return fmt.Errorf("machine %s (%s): %w", r.Name, r.Docker, err)
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	var sites []machines.Site
	for _, r := range t.remotes {
		sites = append(sites, machines.Site{Machine: r.Machine, Engine: r.engine, Name: r.site})
	}
	return machines.CheckTwice(ctx, sites)
}

// open starts the machine's site.
func (r *remote) open(ctx context.Context, program string, log io.Writer) error {
	api, err := machines.Client(ctx, r.Machine)
	if err != nil {
		return err
	}
	if r.engine, err = docker.Reach(ctx, api, program); err != nil {
		return errors.Join(err, api.Close())
	}
	pipe, err := r.engine.StartSite(ctx, docker.Site{
		Name: r.site, Owner: r.owner, Args: []string{"agent", SiteRole}, Socket: r.Socket, State: journal.DefaultRoot, Log: log,
	})
	if err != nil {
		return err
	}
	r.stream = agent.NewStream(pipe)
	var removed []string
	return r.call(ctx, "Clean", "", &removed)
}

// needImage wants the machine's daemon to have an image.
func (r *remote) needImage(ctx context.Context, image string) error {
	found, err := r.engine.HasImage(ctx, image)
	switch {
	case err != nil:
		return fmt.Errorf("machine %s: %w", r.Name, err)
	case found:
		return nil
	}
	there := machines.Command(r.Machine)
	return &docker.UnavailableError{
		Missing: fmt.Sprintf("host.image: image %s is not on machine %s, and aqmlab pulls none", image, r.Name),
		Remedy:  fmt.Sprintf("%s pull %s, or docker save %[2]s | %[1]s load", there, image),
	}
}

// bringUp has the machine bring up its share.
func (r *remote) bringUp(ctx context.Context, share Share) error {
	share.Spread.Here, share.CPUs = r.Name, r.CPUs
	return r.call(ctx, "Up", share, &r.part)
}

// capacities are those of the machines.
func (t *Testbed) capacities() []machines.Capacity {
	var all []machines.Capacity
	for _, r := range t.remotes {
		all = append(all, machines.Capacity{Name: r.Name, Cores: cmp.Or(len(r.CPUs), r.engine.Cores())})
	}
	return all
}

// adoptParts makes what the machines have brought up the testbed's.
func (t *Testbed) adoptParts() {
	t.grounds, t.ahead = nil, make([]time.Duration, len(t.remotes))
	for _, r := range t.remotes {
		t.grounds = append(t.grounds, r)
		t.speaks = r.part.Speaks
		t.net = joinNetworks(t.net, r.part)
		for _, sw := range r.part.Switches {
			p := newSwitchProcess(r.newNode(t.plan.Switches[sw]), t.switchName(sw), sw)
			p.machine = r.Name
			t.switches = append(t.switches, p)
		}
		for _, h := range r.part.Hosts {
			p := newHostProcess(r.newNode(t.plan.Hosts[h]), t.plan.Hosts[h], h)
			p.machine = r.Name
			t.hosts = append(t.hosts, p)
		}
	}
	slices.SortFunc(t.switches, func(a, b switchProcess) int { return a.number - b.number })
	slices.SortFunc(t.hosts, func(a, b hostsProcess) int { return a.number - b.number })
}

// joinNetworks is a network whose nodes on a part's machine are called as they are there.
func joinNetworks(all *netns.Lab, part Part) *netns.Lab {
	if all == nil {
		return part.Network
	}
	for _, sw := range part.Switches {
		all.Switches[sw] = part.Network.Switches[sw]
	}
	for _, h := range part.Hosts {
		all.Hosts[h] = part.Network.Hosts[h]
	}
	return all
}

// eachRemote calls do for all machines at once, and joins the errors.
func (t *Testbed) eachRemote(do func(*remote) error) error {
	errs := make([]error, len(t.remotes))
	var all errgroup.Group
	for i, r := range t.remotes {
		all.Go(func() error {
			errs[i] = do(r)
			return nil
		})
	}
	_ = all.Wait() // the errors are in the list
	return errors.Join(errs...)
}

// nodesOnMachines are the machines of all nodes, by the nodes' names; nil if this one has
// them all.
func (t *Testbed) nodesOnMachines() map[string]string {
	if len(t.remotes) == 0 {
		return nil
	}
	nodes := make(map[string]string)
	for _, p := range t.switches {
		nodes[t.plan.Switches[p.number]] = p.machine
	}
	for _, p := range t.hosts {
		nodes[t.plan.Hosts[p.number]] = p.machine
	}
	return nodes
}
