package netns

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

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
				if err := retimeHost(p.of(i)); err != nil || !p.delayed() {
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
