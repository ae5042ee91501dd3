package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/docker"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
	"aqmlab/switch/fabric"
	"aqmlab/units"
)

// Up brings up the testbed of a lab: congestion control, namespaces, links,
// switch and host processes. When it fails or ctx ends, nothing is left.
func Up(ctx context.Context, lab *labs.Lab, o Options) (*Testbed, error) {
	if err := lab.CheckReal(); err != nil {
		return nil, err
	}
	t := &Testbed{
		lab: lab, virtual: o.Virtual, stays: o.Detached, uncalibrated: o.Uncalibrated || o.Detached, image: o.Image, contained: o.Containers, share: o.share,
		allowed: o.CPUs, dilation: max(1, float64(lab.Dilation)), speaks: make([]Congestion, len(lab.Speaks())),
	}
	bring := t.up
	switch several := len(lab.Rack.Machines) > 0; {
	case several && o.Containers:
		bring = t.upOnMachines
	case several && !o.Virtual:
		return nil, ErrOneMachine
	case os.Geteuid() != 0:
		return nil, ErrNotRoot
	}
	if err := bring(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("bringing up lab %s: %w", lab.Name, err), t.Down(context.WithoutCancel(ctx)))
	}
	return t, nil
}

// fits tells whether this machine has the memory that a lab takes. Of a guest's memory
// somebody else has seen to that.
func fits(lab *labs.Lab, o Options) error {
	if o.Virtual {
		return nil
	}
	spec, err := lab.Fabric(lab.Baseline, 0)
	if err != nil {
		return err
	}
	free, err := freeMemory()
	if err != nil {
		return err
	}
	return checkMemory(len(spec.Hosts), free)
}

// up brings up the lab on this machine, or the share that it has of the lab.
func (t *Testbed) up(ctx context.Context, o Options) error {
	if err := fits(t.lab, o); err != nil {
		return err
	}
	var err error
	if t.journal, err = journal.Create(ctx, o.root(), o.share.info(t.lab.Name)); err != nil {
		return err
	}
	if err := t.acquire(o); err != nil {
		return err
	}
	spec, err := t.lab.Fabric(t.lab.Baseline, 0)
	if err != nil {
		return err
	}
	if o.share != nil {
		t.plan.Spread = &o.share.Spread
	} else if t.netem, err = delaysByKernel(t.lab, o.Detached); err != nil {
		return err
	}
	t.grounds, t.ahead = []ground{here{t}}, make([]time.Duration, 1)
	t.planFor(spec)
	if err := t.shareCPUs(t.localSwitches()); err != nil {
		return err
	}
	if o.Containers {
		err = t.upInContainers(ctx, o)
	} else {
		err = t.upInNamespaces(ctx, o)
	}
	if err != nil || o.Detached {
		return err
	}
	if !t.virtual && o.share == nil { // a guest has nobody who could change interfaces, and who owns a share watches it
		if err := t.watchLinks(); err != nil {
			return err
		}
	}
	return t.serve(ctx)
}

// acquire has this machine's kernel provide what the hosts speak.
func (t *Testbed) acquire(o Options) error {
	if err := t.journal.Record(journal.Entry{Kind: journal.Congctl, Name: cc.Name(t.journal.ID())}); err != nil {
		return err
	}
	all, spoken, err := acquireAll(t.lab, t.journal.ID())
	t.controls = all
	if err != nil {
		return err
	}
	if o.Detached || len(t.lab.Programs) > 0 { // somebody may ask for it by the name that all know
		if err := t.controls.offer(); err != nil {
			return err
		}
	}
	t.speaks = spoken.describe()
	return nil
}

// upInNamespaces brings up the hosts and the switch as namespaces of this
// machine.
func (t *Testbed) upInNamespaces(ctx context.Context, o Options) error {
	// The hosts' process needs no namespace to start in, so it starts meanwhile.
	hosts := make(chan error, 1)
	if o.Detached {
		hosts <- nil
	} else {
		go func() { hosts <- t.startHosts(ctx, o) }()
	}
	err := t.startNetwork(ctx, o)
	return errors.Join(err, <-hosts)
}

// startNetwork makes the namespaces and starts the switch.
func (t *Testbed) startNetwork(ctx context.Context, o Options) (err error) {
	if t.net, err = netns.Up(ctx, t.journal, t.plan); err != nil {
		return err
	}
	p, err := t.spawnSwitch(ctx, o, agent.Options{Namespace: t.net.Switches[0], Nice: t.nice(switchNice)}, 0)
	if err != nil {
		return err
	}
	t.switches = []switchProcess{newSwitchProcess(p, t.switchName(0), 0)}
	return t.openSwitches(ctx)
}

// planFor plans the network of the testbed.
func (t *Testbed) planFor(spec fabric.Spec) {
	p := &t.plan
	*p = netns.Plan{
		Spread:   p.Spread,
		Switches: spec.Switches[:1], // its process carries them all
		Subnet:   subnet,
		MTU:      t.lab.Host.MTU,
		TCP: netns.TCP{
			InitCwnd:     t.lab.Host.InitCwnd,
			Congestion:   t.speaks[0].Name,
			ECN:          t.speaks[0].ECN,
			IdleRestart:  t.lab.Host.IdleRestart,
			SACKRecovery: t.lab.Host.LossRecovery != labs.RecoverRACK,
		},
	}
	p.Also = t.alsoSpeaks()
	for _, h := range spec.Hosts {
		p.Hosts = append(p.Hosts, h.Name)
	}
	if t.netem {
		p.Delays = wallDelays(spec.Hosts, t.dilation)
	}
	if !spec.HostPorts {
		t.uplinks = uplinks(spec, t.lab.Topology.Rate)
	}
	t.dilatePlan()
}

// dilatePlan sets what depends on the dilation in the plan.
func (t *Testbed) dilatePlan() {
	t.plan.TCP.RTOMin = wallMillis(t.lab.Host.RTOMin, t.dilation)
	t.plan.Uplink, t.plan.Uplinks = 0, nil
	if t.shapesHosts() {
		t.plan.Uplink = int64(float64(t.lab.Topology.Rate) / t.dilation)
	}
	for _, rate := range t.uplinks {
		t.plan.Uplinks = append(t.plan.Uplinks, int64(float64(rate)/t.dilation))
	}
}

// shapesHosts tells whether hosts are held to the rates of their links. Where the switch has
// a port for each host to send by, that does it, and a host that sends no faster than its
// link would never have anything wait there.
func (t *Testbed) shapesHosts() bool { return t.lab.Host.Port != labs.HostSwitchPort }

// uplinks are the rates of the hosts' links, or nil if all have the common one.
func uplinks(spec fabric.Spec, common units.Rate) []units.Rate {
	rates := make([]units.Rate, len(spec.Hosts))
	for i := range rates {
		rates[i] = spec.Uplink(i)
	}
	if !slices.ContainsFunc(rates, func(r units.Rate) bool { return r != common }) {
		return nil
	}
	return rates
}

// wallMillis is a lab time on the wall, rounded up to the milliseconds that
// the kernel counts such times in.
func wallMillis(lab time.Duration, dilation float64) time.Duration {
	wall := time.Duration(float64(lab) * dilation)
	return (wall + time.Millisecond - 1).Truncate(time.Millisecond)
}

// startHosts starts the process that carries the traffic of all hosts.
func (t *Testbed) startHosts(ctx context.Context, o Options) error {
	ao := agent.Options{Role: role.HostsRole, CPUs: t.cpus.Hosts, Nice: t.nice(hostsNice)}
	states, err := t.controls.stateFile()
	if err != nil {
		return fmt.Errorf("starting the hosts: %w", err)
	}
	if states != nil {
		defer states.Close()
		ao.Files, t.statesShared = []*os.File{states}, true
	}
	p, err := t.spawn(ctx, o, ao, "the hosts")
	if err != nil {
		return err
	}
	t.hosts = fleet{{process{helper: p, name: "the hosts"}, role.HostsClient{Process: p}, 0, everyHost}}
	return nil
}

// The nice values of helper processes, which other programs must not make late.
// Those of containers compete by their cgroups.
const (
	switchNice = -20 // on a CPU of its own, where it has one
	hostsNice  = -10
)

// nice is the nice value of a helper process: in virtual time nobody is late.
func (t *Testbed) nice(value int) int {
	if t.virtual {
		return 0
	}
	return value
}

// serve opens the hosts' servers.
func (t *Testbed) serve(ctx context.Context) error {
	names, err := t.namesFile()
	if err != nil {
		return err
	}
	sorts, err := sortsOf(t.lab)
	if err != nil {
		return err
	}
	var ends []role.End
	for _, h := range t.net.Hosts {
		end := role.End{Namespace: h.Namespace, Addr: h.Addr, Also: h.Also, Sorts: sorts, Hosts: names, Root: t.image}
		if t.contained {
			end.Namespace = "" // each process is inside its own already
		}
		ends = append(ends, end)
	}
	return t.hosts.serve(ctx, ends)
}

// spawnSwitch starts a switch's process where ao says. It inherits what keeps
// the congestion control registered, so that a detached testbed keeps its own.
func (t *Testbed) spawnSwitch(ctx context.Context, o Options, ao agent.Options, i int) (*agent.Process, error) {
	ao.Role = role.SwitchRole
	links, err := t.controls.linkFiles()
	if err != nil {
		return nil, err
	}
	ao.Files = links
	for _, link := range links {
		defer link.Close()
	}
	if o.Detached {
		ao.Detached = t.detached(t.plan.Switches[i])
	}
	return t.spawn(ctx, o, ao, t.switchName(i))
}

// spawn starts a helper process, which errors call by a name.
func (t *Testbed) spawn(ctx context.Context, o Options, ao agent.Options, name string) (*agent.Process, error) {
	ao.Log, ao.Record, ao.Quiet = o.Log, t.journal.Record, t.virtual
	if t.virtual {
		ao.Place = role.Within{Kinds: o.Kinds, Namespace: ao.Namespace}
	}
	p, err := agent.Spawn(ctx, ao)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return p, nil
}

// socketSuffix ends the name of an agent's socket in the lab's state folder.
const socketSuffix = ".sock"

// detached is what an agent of a lab that stays needs.
func (t *Testbed) detached(name string) *agent.Detached {
	path := filepath.Join(t.journal.Dir(), name)
	return &agent.Detached{Socket: path + socketSuffix, Log: path + ".log"}
}

// Down removes the testbed. It is safe on one that came up in part, and for a
// second time, which tries again what failed before.
func (t *Testbed) Down(ctx context.Context) error {
	t.whole.end()
	errs := []error{each(t.processes(), func(_ int, p process) error { return t.stop(ctx, p) })}
	t.hosts, t.switches = nil, nil
	errs = append(errs, t.controls.close())
	t.controls = nil
	left, err := t.leaveMachines(ctx)
	errs = append(errs, err)
	if t.journal != nil {
		if err := t.journal.Undo(undoersBut(left)); err != nil {
			errs = append(errs, fmt.Errorf("%w; the next aqmlab command as root removes what is left", err))
		}
	}
	if t.engine != nil {
		errs = append(errs, t.engine.Close())
		t.engine = nil
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("removing lab %s: %w", t.lab.Name, err)
	}
	return nil
}

// stop ends a process. After one has died, the deaths of others are no news.
func (t *Testbed) stop(ctx context.Context, p process) error {
	err := p.Stop(ctx)
	if t.blamed && errors.Is(err, agent.ErrDied) {
		return nil
	}
	return err
}

// undoers say how what a testbed's journal holds is removed.
func undoers() journal.Undoers {
	return journal.Undoers{
		journal.Container: docker.Remove,
		journal.Volume:    docker.RemoveVolumes,
		journal.Namespace: netns.Remove,
		journal.Process:   agent.Remove,
		journal.File:      journal.RemoveFiles,
		journal.Congctl:   unregister,
		journal.Machine:   cleanMachines,
	}
}

// unregister removes congestion controls that outlive their process.
func unregister(entries []journal.Entry) error {
	var errs []error
	for _, e := range entries {
		errs = append(errs, cc.Unregister(e.Name))
	}
	return errors.Join(errs...)
}
