package check

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"aqmlab/labs/inventory"
	"aqmlab/orchestrator/netns"
	"aqmlab/results"
)

// pair measures between two machines.
func (c *checking) pair(ctx context.Context, from, to *site) Pair {
	p := Pair{From: from.Name, To: to.Name}
	err := c.clocks(ctx, &p, from, to)
	if err == nil { // else nothing else would get through
		err = errors.Join(c.links(ctx, &p, from, to), c.rates(ctx, &p, from, to))
	}
	if err != nil {
		p.Problem = err.Error()
	}
	return p
}

func (c *checking) clocks(ctx context.Context, p *Pair, from, to *site) error {
	o, err := from.compare(ctx, to.at)
	if err != nil {
		return err
	}
	p.RTT, p.Ahead, p.Bound = results.Micros(o.RTT), o.Ahead, results.Micros(o.Bound())
	return nil
}

// links looks at what the lab's links would have.
func (c *checking) links(ctx context.Context, p *Pair, from, to *site) error {
	if len(c.VLANs) > 0 {
		return c.vlans(ctx, p, from, to)
	}
	return c.sizes(ctx, p, from, to)
}

// vlans finds, both ways, which VLANs pass frames, and the MTU in them.
func (c *checking) vlans(ctx context.Context, p *Pair, from, to *site) error {
	var free []int
	for _, id := range c.VLANs {
		if !slices.Contains(from.tagged.InUse, id) && !slices.Contains(to.tagged.InUse, id) {
			free = append(free, id)
		}
	}
	for _, s := range []*site{from, to} {
		if used := s.tagged.InUse; len(used) > 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("%s has %s in use on %s, as for links of a lab that is up, so it is not known whether the network lets their frames pass",
				s.Name, vlansOf(used), s.Interface))
		}
	}
	forth, err := from.cross(ctx, free, to)
	if err != nil {
		return err
	}
	back, err := to.cross(ctx, free, from)
	if err != nil {
		return err
	}
	silent := slices.Concat(forth.Silent, back.Silent)
	slices.Sort(silent)
	if silent = slices.Compact(silent); len(silent) > 0 {
		err = fmt.Errorf("nothing passes in %s between %s of %s and %s of %s: have the network between them carry frames with these tags, or leave the ids out of vlans",
			vlansOf(silent), from.Interface, p.From, to.Interface, p.To)
	}
	p.MTU = min(forth.MTU, back.MTU)
	p.HostMTU = p.MTU
	if p.MTU == 0 {
		return err
	}
	return errors.Join(err, c.fits(p, 0))
}

// vlansOf names VLANs by their ids.
func vlansOf(ids []int) string {
	if len(ids) == 1 {
		return fmt.Sprint("VLAN ", ids[0])
	}
	return "VLANs " + inventory.Ranges(ids)
}

// sizes finds the MTU, both ways, by the port of VXLAN where that is free.
func (c *checking) sizes(ctx context.Context, p *Pair, from, to *site) error {
	forth, err := c.size(ctx, p, from, to)
	if err != nil {
		return err
	}
	back, err := c.size(ctx, p, to, from)
	if err != nil {
		return err
	}
	p.MTU = min(forth, back)
	p.HostMTU = p.MTU - netns.VXLANOverhead
	return c.fits(p, netns.VXLANOverhead)
}

// fits wants the lab's packets to pass, to which links add some bytes.
func (c *checking) fits(p *Pair, overhead int) error {
	if p.HostMTU < c.MTU {
		return fmt.Errorf("the lab's packets (host.mtu) are %d bytes, and no more than %d fit between %s and %s: raise the MTU of their network to %d at least, or lower host.mtu",
			c.MTU, p.HostMTU, p.From, p.To, c.MTU+overhead)
	}
	return nil
}

func (c *checking) size(ctx context.Context, p *Pair, from, to *site) (mtu int, err error) {
	at, err := c.vxlan(ctx, p, to)
	if err != nil {
		return 0, err
	}
	if at != to.at {
		defer func() { err = errors.Join(err, to.hush(ctx, c.Port)) }()
	}
	return from.mtu(ctx, at)
}

// vxlan is where a machine answers at the port of VXLAN, or elsewhere if that is in use.
func (c *checking) vxlan(ctx context.Context, p *Pair, to *site) (netip.AddrPort, error) {
	a, err := to.answer(ctx, c.Port)
	if err != nil {
		return a.At, err
	}
	if a.InUse {
		p.Notes = append(p.Notes, fmt.Sprintf("UDP port %d of %s is in use, as by the links of a lab that is up, so it is not known whether firewalls let it pass", c.Port, to.Name))
		return to.at, nil
	}
	return a.At, nil
}

// rates measures throughput, one way after the other.
func (c *checking) rates(ctx context.Context, p *Pair, from, to *site) (err error) {
	if p.Forth, err = from.throughput(ctx, to.at, c.Over); err != nil {
		return err
	}
	p.Back, err = to.throughput(ctx, from.at, c.Over)
	return err
}
