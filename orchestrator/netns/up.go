package netns

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sync/errgroup"

	"aqmlab/orchestrator/host"
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
			// Its own stack must be out of the traffic.
			return errors.Join(host.DisableIPv6(), ns.Close())
		})
		if err != nil {
			return err
		}
	}
	if err := buildTrunks(ctx, p, lab); err != nil {
		return err
	}
	return buildHosts(ctx, p, lab)
}

// buildHosts makes all hosts, as many at once as there are usable CPUs.
func buildHosts(ctx context.Context, p Plan, lab *Lab) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i, h := range lab.Hosts {
		all.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return Do(lab.Switches[h.Switch], func() error {
				err := buildHost(ctx, p.forHost(i), h)
				if err == nil && p.delayed() {
					err = addDelays(p.Delays[i])
				}
				if err != nil {
					return fmt.Errorf("host %s: %w", h.Name, err)
				}
				return nil
			})
		})
	}
	return all.Wait()
}

// Retime changes what depends on how fast the lab runs to what the plan says:
// the hosts' uplinks and delays, and TCP's times, which hold for connections
// that are opened from then on. The plan differs from the lab's in nothing
// else.
func (l *Lab) Retime(p Plan) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("retime lab %s: %w", l.ID, err)
	}
	err := parallel(len(l.Hosts), func(i int) error {
		err := Do(l.Hosts[i].Namespace, func() error {
			if err := retimeHost(p.forHost(i)); err != nil || !p.delayed() {
				return err
			}
			return changeDelays(p.Delays[i])
		})
		if err != nil {
			return fmt.Errorf("host %s: %w", l.Hosts[i].Name, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("retime lab %s: %w", l.ID, err)
	}
	return nil
}

// retimeHost changes the host that the calling thread is in.
func retimeHost(p Plan) error {
	device, err := netlink.LinkByName(Device)
	if err != nil {
		return fmt.Errorf("find %s: %w", Device, err)
	}
	r := subnetRoute(p, device.Attrs().Index)
	if err := netlink.RouteReplace(&r); err != nil {
		return fmt.Errorf("replace route to %s: %w", p.Subnet, err)
	}
	return shapeUplink(p, device.Attrs().Index)
}
