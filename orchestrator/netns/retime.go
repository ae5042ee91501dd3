package netns

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
)

// SetTCP changes what TCP does on every host's route to what the plan, which
// differs from the lab's in nothing else, says. It holds for connections that
// are opened from then on.
func (l *Lab) SetTCP(p Plan) error {
	err := parallel(len(l.Hosts), func(next func() (int, bool)) error {
		var errs []error
		for i, ok := next(); ok; i, ok = next() {
			h := l.Hosts[i]
			if err := Do(h.Namespace, func() error { return replaceRoute(p) }); err != nil {
				errs = append(errs, fmt.Errorf("host %s: %w", h.Name, err))
			}
		}
		return errors.Join(errs...)
	})
	if err != nil {
		return fmt.Errorf("set TCP of lab %s: %w", l.ID, err)
	}
	return nil
}

// replaceRoute renews the route of the host that the calling thread is in.
func replaceRoute(p Plan) error {
	device, err := netlink.LinkByName(Device)
	if err != nil {
		return fmt.Errorf("find %s: %w", Device, err)
	}
	r := subnetRoute(p, device.Attrs().Index)
	if err := netlink.RouteReplace(&r); err != nil {
		return fmt.Errorf("replace route to %s: %w", p.Subnet, err)
	}
	return nil
}
