package netns

import (
	"context"
	"errors"
	"fmt"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Trunk is a link between two switches.
type Trunk struct {
	Ends [2]TrunkEnd `json:"ends"`
}

// TrunkEnd is an interface in a switch's namespace. Its name is that of the
// switch at the other end, with a number behind it where that is taken.
type TrunkEnd struct {
	Switch    int    `json:"switch"` // by its index
	Interface string `json:"interface"`
	MAC       MAC    `json:"mac"`
}

// trunks numbers and names the links between switches.
func (p Plan) trunks() []Trunk {
	taken := make([]map[string]bool, len(p.Switches)) // in each switch's namespace
	for i := range taken {
		taken[i] = map[string]bool{}
	}
	for i, name := range p.Hosts {
		taken[p.at(i)][name] = true
	}
	all := make([]Trunk, len(p.Trunks))
	for i, between := range p.Trunks {
		for side, at := range between {
			far := p.Switches[between[1-side]]
			name := far
			for n := 2; taken[at][name]; n++ {
				name = fmt.Sprintf("%s-%d", far, n)
			}
			taken[at][name] = true
			all[i].Ends[side] = TrunkEnd{at, name, mac(trunkSide, 2*i+side)}
		}
	}
	return all
}

// at is the switch of a host.
func (p Plan) at(host int) int {
	if p.At == nil {
		return 0
	}
	return p.At[host]
}

func (p Plan) checkTrunks() error {
	if len(p.Switches) == 0 {
		return nil // which is refused elsewhere
	}
	var errs []error
	if n := len(p.At); p.At != nil && n != len(p.Hosts) {
		return fmt.Errorf("the switches of %d hosts: want one for each of %d hosts, or none", n, len(p.Hosts))
	}
	known := func(sw int) bool { return sw >= 0 && sw < len(p.Switches) }
	for i, sw := range p.At {
		if !known(sw) {
			errs = append(errs, fmt.Errorf("host %s: no switch has the number %d", p.Hosts[i], sw))
		}
	}
	for _, t := range p.Trunks {
		if !known(t[0]) || !known(t[1]) || t[0] == t[1] {
			errs = append(errs, fmt.Errorf("trunk between switches %d and %d: want two of %d", t[0], t[1], len(p.Switches)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, t := range p.trunks() {
		for _, e := range t.Ends {
			if len(e.Interface) >= unix.IFNAMSIZ {
				errs = append(errs, fmt.Errorf("interface %q of a trunk: want at most %d characters", e.Interface, unix.IFNAMSIZ-1))
			}
		}
	}
	return errors.Join(errs...)
}

// buildTrunks links the switches with one another.
func buildTrunks(ctx context.Context, p Plan, lab *Lab) error {
	for _, t := range lab.Trunks {
		if err := buildTrunk(ctx, p, lab, t); err != nil {
			return fmt.Errorf("trunk between %s and %s: %w", p.Switches[t.Ends[0].Switch], p.Switches[t.Ends[1].Switch], err)
		}
	}
	return nil
}

func buildTrunk(ctx context.Context, p Plan, lab *Lab, t Trunk) error {
	near, far := t.Ends[0], t.Ends[1]
	ns, err := netns.GetFromName(lab.Switches[far.Switch])
	if err != nil {
		return fmt.Errorf("open namespace %s: %w", lab.Switches[far.Switch], err)
	}
	defer ns.Close()
	err = Do(lab.Switches[near.Switch], func() error {
		return withHandles(near.Interface, func(_ string, h handles) error { return addLink(h.route, p.MTU, near, far, ns) })
	})
	if err != nil {
		return err
	}
	for _, do := range []func(string, handles) error{setUpPort, awaitPort(ctx)} {
		for _, e := range t.Ends {
			if err := Do(lab.Switches[e.Switch], func() error { return withHandles(e.Interface, do) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// withHandles does something to an interface in the calling thread's namespace.
func withHandles(name string, do func(string, handles) error) error {
	h, err := openHandles()
	if err != nil {
		return err
	}
	defer h.close()
	return do(name, h)
}

// awaitPort waits until a port carries frames.
func awaitPort(ctx context.Context) func(string, handles) error {
	return func(name string, h handles) error {
		link, err := h.route.LinkByName(name)
		if err != nil {
			return fmt.Errorf("find switch port: %w", err)
		}
		return awaitCarrier(ctx, link.Attrs().Index)
	}
}
