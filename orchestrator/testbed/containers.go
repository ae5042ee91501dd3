package testbed

import (
	"context"
	"errors"
	"slices"
	"sync"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/docker"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
	"aqmlab/switch/fabric"
)

// upInContainers brings up the hosts and the switch as containers: first these,
// with an agent in each, then the links between their namespaces.
func (t *Testbed) upInContainers(ctx context.Context, o Options) (err error) {
	if t.engine, err = docker.Connect(ctx, o.Program); err != nil {
		return err
	}
	if err := t.layOut(); err != nil {
		return err
	}
	lab, err := t.plan.Lab(t.journal.ID())
	if err != nil {
		return err
	}
	nodes := t.nodes(lab)
	boxes, err := t.engine.Prepare(ctx, t.journal, nodes)
	if err != nil {
		return err
	}
	if err := t.startAgents(ctx, o, nodes, boxes); err != nil {
		return err
	}
	t.plan.Owners = map[string]int{}
	for _, p := range t.switches {
		t.plan.Owners[t.plan.Switches[p.number]] = p.PID()
	}
	for _, p := range t.hosts {
		t.plan.Owners[t.plan.Hosts[p.number]] = p.PID()
	}
	if t.net, err = netns.Up(ctx, t.journal, t.plan); err != nil {
		return err
	}
	return t.openSwitches(ctx)
}

// layOut gives each of several switches a container, and CPUs where there are
// enough.
func (t *Testbed) layOut() error {
	spec, err := t.lab.Fabric(t.lab.Baseline, 0)
	if err != nil || len(spec.Switches) == 1 {
		return err
	}
	if spec.Pause != (fabric.Pause{}) {
		return errors.New("switch.pause.xoff: flow control does not reach from container to container; use another runtime, or a topology of one switch")
	}
	split(&t.plan, spec)
	return t.shareCPUs(t.localSwitches())
}

// nodes lists the containers of this machine, those of switches first.
func (t *Testbed) nodes(lab *netns.Lab) []docker.Node {
	var peers []string
	for _, h := range lab.Hosts {
		peers = append(peers, h.Name+":"+h.Addr.String())
	}
	var nodes []docker.Node
	for i, name := range t.plan.Switches {
		if !t.plan.Here(name) {
			continue
		}
		// A switch pins the thread that matters to its CPU by itself.
		nodes = append(nodes, docker.Node{Name: lab.Switches[i], Host: name, Owner: t.share.owner(), Switch: true})
	}
	limits := t.lab.Host.Container
	for _, h := range lab.Hosts {
		if !t.plan.Here(h.Name) {
			continue
		}
		nodes = append(nodes, docker.Node{
			Name:   h.Namespace,
			Host:   h.Name,
			Owner:  t.share.owner(),
			Image:  limits.Image,
			CPUSet: t.cpus.Hosts,
			CPUs:   limits.CPUs,
			Memory: int64(limits.Memory),
			Peers:  peers,
		})
	}
	return nodes
}

// startAgents starts the containers with their agents. Those that came up are
// in the testbed even when others did not.
func (t *Testbed) startAgents(ctx context.Context, o Options, nodes []docker.Node, boxes []*docker.Container) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	all, errs := make([]*agent.Process, len(boxes)), make([]error, len(boxes))
	var starting sync.WaitGroup
	for i, box := range boxes {
		starting.Go(func() {
			if nodes[i].Switch {
				all[i], errs[i] = t.spawnSwitch(ctx, o, agent.Options{Place: box}, slices.Index(t.plan.Switches, nodes[i].Host))
			} else {
				all[i], errs[i] = t.spawnHost(ctx, o, box, nodes[i].Host)
			}
			if errs[i] != nil {
				cancel(errs[i]) // the others need not go on
			}
		})
	}
	starting.Wait()
	for i, p := range all {
		switch name := nodes[i].Host; {
		case p == nil:
		case nodes[i].Switch:
			number := slices.Index(t.plan.Switches, name)
			t.switches = append(t.switches, newSwitchProcess(p, t.switchName(number), number))
		default:
			t.hosts = append(t.hosts, newHostProcess(p, name, slices.Index(t.plan.Hosts, name)))
		}
	}
	if errors.Join(errs...) != nil {
		return context.Cause(ctx) // the first error; the others are its echo
	}
	return nil
}

// spawnHost starts the agent of one host.
func (t *Testbed) spawnHost(ctx context.Context, o Options, box *docker.Container, name string) (*agent.Process, error) {
	ao := agent.Options{Role: role.HostsRole, Place: box}
	if o.Detached {
		ao.Detached = t.detached(name)
	}
	return t.spawn(ctx, o, ao, "host "+name)
}

// split lays out the switches of a network in namespaces of their own.
func split(p *netns.Plan, spec fabric.Spec) {
	p.Switches, p.At = spec.Switches, make([]int, len(spec.Hosts))
	for _, l := range spec.Links {
		a, b := slices.Index(spec.Switches, l.A), slices.Index(spec.Switches, l.B)
		switch {
		case a >= 0 && b >= 0:
			p.Trunks = append(p.Trunks, [2]int{a, b})
		case a >= 0:
			p.At[slices.Index(p.Hosts, l.B)] = a
		default:
			p.At[slices.Index(p.Hosts, l.A)] = b
		}
	}
}
