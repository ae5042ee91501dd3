package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/role"
)

// nodes are the processes of a lab that was left up.
type nodes interface {
	// call finds the process of a switch, or of a host in a container, and says how much
	// the CLOCK_MONOTONIC of its machine is ahead of this one's. The error for a host that
	// is no container wraps fs.ErrNotExist.
	call(ctx context.Context, name string) (process role.Caller, ahead int64, err error)
	close() error
}

// nodesHere are those of a lab on this machine.
type nodesHere struct {
	dir  string // the lab's state folder
	open map[string]*agent.Client
}

func nodesIn(dir string) *nodesHere { return &nodesHere{dir, map[string]*agent.Client{}} }

func (n *nodesHere) call(ctx context.Context, name string) (role.Caller, int64, error) {
	if c := n.open[name]; c != nil {
		return c, 0, nil
	}
	c, err := agent.Dial(ctx, filepath.Join(n.dir, name+socketSuffix))
	if err != nil {
		return nil, 0, err
	}
	n.open[name] = c
	return c, 0, nil
}

func (n *nodesHere) close() error {
	var errs []error
	for _, c := range n.open {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// nodesElsewhere are those of a lab on several machines.
type nodesElsewhere struct {
	standing Standing
	remotes  map[string]*attached
}

// attached is a machine with a share that was left up, and a site that calls it.
type attached struct {
	*remote
	ahead int64
}

func (n *nodesElsewhere) call(ctx context.Context, name string) (role.Caller, int64, error) {
	machine := n.standing.Nodes[name]
	a := n.remotes[machine]
	if a == nil {
		var err error
		if a, err = n.attach(ctx, machine); err != nil {
			return nil, 0, fmt.Errorf("machine %s: %w", machine, err)
		}
		n.remotes[machine] = a
	}
	return &node{remote: a.remote, name: name}, a.ahead, nil
}

// attach has a site on a machine connect to its share.
func (n *nodesElsewhere) attach(ctx context.Context, machine string) (*attached, error) {
	f, known := n.standing.footholds[machine]
	if !known {
		return nil, ErrNoLab
	}
	a := &attached{remote: f.remote("live")}
	err := a.open(ctx, "", os.Stderr)
	if err == nil {
		err = a.call(ctx, "Attach", f.Owner, &agent.Nothing{})
	}
	if err == nil {
		a.ahead, err = a.aheadOfThis(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, a.end(context.WithoutCancel(ctx)))
	}
	return a, nil
}

// aheadOfThis is how much the machine's clock is ahead of this one's, give or take half of
// the time that it takes to ask: enough for what people make happen.
func (r *remote) aheadOfThis(ctx context.Context) (int64, error) {
	begun := time.Now()
	there, err := r.clock(ctx)
	if err != nil {
		return 0, err
	}
	here, err := host.Monotonic()
	return there - (here - int64(time.Since(begun)/2)), err
}

func (n *nodesElsewhere) close() error {
	var errs []error
	for _, a := range n.remotes {
		errs = append(errs, a.end(context.Background()))
	}
	return errors.Join(errs...)
}
