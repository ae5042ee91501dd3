package netns

import (
	"context"
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

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
			all[i].Ends[side] = TrunkEnd{at, name, p.mac(len(p.Hosts)+i, trunkSide, 2*i+side)}
		}
	}
	return all
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

// buildTrunks links the switches with one another. Their links are numbered after those of
// hosts.
func buildTrunks(ctx context.Context, p Plan, lab *Lab) error {
	for i, t := range lab.Trunks {
		if err := buildTrunk(ctx, p, lab, len(p.Hosts)+i, t); err != nil {
			return fmt.Errorf("trunk between %s and %s: %w", p.Switches[t.Ends[0].Switch], p.Switches[t.Ends[1].Switch], err)
		}
	}
	return nil
}

func buildTrunk(ctx context.Context, p Plan, lab *Lab, number int, t Trunk) error {
	var ends [2]end
	var here []end
	for side, e := range t.Ends {
		ends[side] = end{e.Interface, e.MAC, p.Switches[e.Switch], lab.Switches[e.Switch]}
		if p.Here(ends[side].node) {
			here = append(here, ends[side])
		}
	}
	if len(here) == 0 {
		return nil
	}
	if err := p.link(ctx, number, ends[0], ends[1]); err != nil {
		return err
	}
	for _, do := range []func(string) error{setUpPort, awaitPort(ctx)} {
		for _, e := range here {
			if err := Do(e.namespace, func() error { return do(e.name) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// awaitPort waits until a port carries frames.
func awaitPort(ctx context.Context) func(string) error {
	return func(name string) error {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return fmt.Errorf("find switch port: %w", err)
		}
		return awaitCarrier(ctx, link.Attrs().Index)
	}
}
