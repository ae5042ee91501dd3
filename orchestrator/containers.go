package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/docker"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
)

// upInContainers brings up the hosts and the switch as containers: first these,
// with an agent in each, then the links between their namespaces.
func (t *Testbed) upInContainers(ctx context.Context, o Options) (err error) {
	if t.engine, err = docker.Connect(ctx, o.Program); err != nil {
		return err
	}
	lab, err := t.plan.Lab(t.journal.ID())
	if err != nil {
		return err
	}
	boxes, err := t.engine.Prepare(ctx, t.journal, t.nodes(lab))
	if err != nil {
		return err
	}
	if err := t.startAgents(ctx, o, boxes); err != nil {
		return err
	}
	t.plan.Owners = map[string]int{t.plan.Switch: t.sw.PID()}
	for i, name := range t.plan.Hosts {
		t.plan.Owners[name] = t.hosts[i].PID()
	}
	if t.net, err = netns.Up(ctx, t.journal, t.plan); err != nil {
		return err
	}
	return t.openSwitch(ctx)
}

// nodes lists the containers, the switch's first.
func (t *Testbed) nodes(lab *netns.Lab) []docker.Node {
	var peers []string
	for _, h := range lab.Hosts {
		peers = append(peers, h.Name+":"+h.Addr.String())
	}
	// The switch pins the thread that matters to its CPU by itself.
	nodes := []docker.Node{{Name: lab.Switch, Host: t.plan.Switch, Switch: true}}
	limits := t.lab.Host.Container
	for _, h := range lab.Hosts {
		nodes = append(nodes, docker.Node{
			Name:   h.Namespace,
			Host:   h.Name,
			Image:  limits.Image,
			CPUSet: t.cpus.hosts,
			CPUs:   limits.CPUs,
			Memory: int64(limits.Memory),
			Peers:  peers,
		})
	}
	return nodes
}

// startAgents starts the containers with their agents. Those that came up are
// in the testbed even when others did not.
func (t *Testbed) startAgents(ctx context.Context, o Options, boxes []*docker.Container) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	all, errs := make([]*agent.Process, len(boxes)), make([]error, len(boxes))
	var starting sync.WaitGroup
	for i, box := range boxes {
		starting.Go(func() {
			if i == 0 {
				all[i], errs[i] = t.spawnSwitch(ctx, o, agent.Options{Place: box})
			} else {
				all[i], errs[i] = t.spawnHost(ctx, o, box, t.plan.Hosts[i-1])
			}
			if errs[i] != nil {
				cancel(errs[i]) // the others need not go on
			}
		})
	}
	starting.Wait()
	t.sw = all[0]
	for i, p := range all[1:] {
		if p != nil {
			t.hosts = append(t.hosts, crew{p, "host " + t.plan.Hosts[i], onlyHost(i)})
		}
	}
	if errors.Join(errs...) != nil {
		return context.Cause(ctx) // the first error; the others are its echo
	}
	return nil
}

// spawnHost starts the agent of one host.
func (t *Testbed) spawnHost(ctx context.Context, o Options, box *docker.Container, name string) (*agent.Process, error) {
	ao := agent.Options{Role: role.HostsRole, Place: box, Log: o.Log, Record: t.journal.Record}
	if o.Detached {
		ao.Detached = t.detached(name)
	}
	p, err := agent.Spawn(ctx, ao)
	if err != nil {
		return nil, fmt.Errorf("starting host %s: %w", name, err)
	}
	return p, nil
}

// detached is what an agent of a lab that stays needs.
func (t *Testbed) detached(name string) *agent.Detached {
	path := filepath.Join(t.journal.Dir(), name)
	return &agent.Detached{Socket: path + ".sock", Log: path + ".log"}
}

// daemonWait bounds the look for a Docker daemon.
const daemonWait = 5 * time.Second

// findDocker looks for what hosts that are containers need.
func findDocker() Finding {
	ctx, cancel := context.WithTimeout(context.Background(), daemonWait)
	defer cancel()
	engine, err := docker.Connect(ctx, "")
	var missing *docker.UnavailableError
	switch {
	case errors.As(err, &missing):
		return Finding{Part: "Docker", Text: missing.Missing, Remedy: "for --runtime docker: " + missing.Remedy}
	case err != nil:
		return Finding{Part: "Docker", Text: err.Error()}
	}
	f := Finding{Part: "Docker", OK: true, Text: fmt.Sprintf("version %s: --runtime docker makes hosts and switch containers", engine.Version())}
	if err := engine.Close(); err != nil {
		return Finding{Part: "Docker", Text: err.Error()}
	}
	return f
}
