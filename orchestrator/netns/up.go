package netns

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/journal"
)

// Up brings up the lab that the plan describes, under the journal's id, and
// returns when every link has its carrier. It records in the journal before it
// makes; when it fails or ctx ends, it removes what it has made and returns
// why.
func Up(ctx context.Context, j *journal.Journal, p Plan) (*Lab, error) {
	lab, err := p.Lab(j.ID())
	if err != nil {
		return nil, err
	}
	entries := lab.entries()
	if err := refuseForeign(entries); err != nil {
		return nil, fmt.Errorf("bring up lab %s: %w", lab.ID, err)
	}
	if err := j.Record(entries...); err != nil {
		return nil, err
	}
	if err := build(ctx, p, lab); err != nil {
		return nil, errors.Join(fmt.Errorf("bring up lab %s: %w", lab.ID, err), removeAll(entries))
	}
	return lab, nil
}

// Down removes the lab's namespaces with everything in them. It is also what
// undoing the journal does.
func (l *Lab) Down() error { return removeAll(l.entries()) }

// refuseForeign makes sure that no namespace of the lab exists yet: recording
// it would have it removed, though it is not ours.
func refuseForeign(entries []journal.Entry) error {
	for _, e := range entries {
		_, err := os.Lstat(path(e.Name))
		if err == nil {
			return fmt.Errorf("namespace %s exists and is not of this lab: remove it with `ip netns del %[1]s`", e.Name)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// build makes the switches, the links between them, and then all hosts.
func build(ctx context.Context, p Plan, lab *Lab) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := readyDir(); err != nil {
		return err
	}
	for i, name := range p.Switches {
		err := Do("", func() error {
			ns, err := p.namespace(name, lab.Switches[i])
			if err != nil {
				return err
			}
			return errors.Join(switchSysctls(), ns.Close())
		})
		if err != nil {
			return err
		}
	}
	if err := buildTrunks(ctx, p, lab); err != nil {
		return err
	}
	for sw := range p.Switches {
		if err := buildAround(ctx, p, lab, sw); err != nil {
			return err
		}
	}
	return nil
}

// buildAround makes the hosts of one switch.
func buildAround(ctx context.Context, p Plan, lab *Lab, sw int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hosts := p.hostsAt(sw)
	err := parallel(len(hosts), func(next func() (int, bool)) error {
		nextHost := func() (int, bool) {
			i, ok := next()
			if !ok {
				return 0, false
			}
			return hosts[i], true
		}
		err := Do(lab.Switches[sw], func() error { return buildHosts(ctx, p, lab, nextHost) })
		if err != nil {
			cancel(err) // the other workers need not go on
		}
		return err
	})
	if err != nil {
		return context.Cause(ctx) // the first error; the others are its echo
	}
	return nil
}

// buildHosts takes hosts of one switch from next until there are none. The
// calling thread is in the switch's namespace, whose handles it opens for all its hosts, and ends
// in that of its last host.
func buildHosts(ctx context.Context, p Plan, lab *Lab, next func() (int, bool)) error {
	ports, err := openHandles()
	if err != nil {
		return fmt.Errorf("set up switch ports: %w", err)
	}
	defer ports.close()
	for {
		i, ok := next()
		if !ok {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := buildHost(ctx, p.forHost(i), lab.Hosts[i], ports)
		if err == nil && p.delayed() {
			err = addDelays(p.Delays[i])
		}
		if err != nil {
			return fmt.Errorf("host %s: %w", lab.Hosts[i].Name, err)
		}
	}
}

// Retime changes what depends on how fast the lab runs to what the plan says:
// the hosts' uplinks and delays, and TCP's times, which hold for connections
// that are opened from then on. The plan differs from the lab's in nothing
// else.
func (l *Lab) Retime(p Plan) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("retime lab %s: %w", l.ID, err)
	}
	err := parallel(len(l.Hosts), func(next func() (int, bool)) error {
		var errs []error
		for i, ok := next(); ok; i, ok = next() {
			h := l.Hosts[i]
			err := Do(h.Namespace, func() error {
				if err := retimeHost(p.forHost(i)); err != nil || !p.delayed() {
					return err
				}
				return changeDelays(p.Delays[i])
			})
			if err != nil {
				errs = append(errs, fmt.Errorf("host %s: %w", h.Name, err))
			}
		}
		return errors.Join(errs...)
	})
	if err != nil {
		return fmt.Errorf("retime lab %s: %w", l.ID, err)
	}
	return nil
}

// retimeHost changes the host that the calling thread is in.
func retimeHost(p Plan) error {
	route, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	defer route.Close()
	device, err := route.LinkByName(Device)
	if err != nil {
		return fmt.Errorf("find %s: %w", Device, err)
	}
	r := subnetRoute(p, device.Attrs().Index)
	if err := route.RouteReplace(&r); err != nil {
		return fmt.Errorf("replace route to %s: %w", p.Subnet, err)
	}
	return shapeUplink(p, device.Attrs().Index, route)
}
