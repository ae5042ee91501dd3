package check

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"aqmlab/orchestrator/netns"
	"aqmlab/results"
)

// pair measures between two machines.
func (c *checking) pair(ctx context.Context, from, to *site) Pair {
	p := Pair{From: from.Name, To: to.Name}
	err := c.clocks(ctx, &p, from, to)
	if err == nil { // else nothing else would get through
		err = errors.Join(c.sizes(ctx, &p, from, to), c.rates(ctx, &p, from, to))
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
	if p.HostMTU < c.MTU {
		return fmt.Errorf("the lab's packets (host.mtu) are %d bytes, and no more than %d fit between %s and %s: raise the MTU of their network to %d at least, or lower host.mtu",
			c.MTU, p.HostMTU, p.From, p.To, c.MTU+netns.VXLANOverhead)
	}
	return nil
}

func (c *checking) size(ctx context.Context, p *Pair, from, to *site) (mtu int, err error) {
	at, err := c.vxlan(ctx, p, to)
	if err != nil {
		return 0, err
	}
	if at != to.at {
		defer func() { err = errors.Join(err, to.hush(ctx, c.port)) }()
	}
	return from.mtu(ctx, at)
}

// vxlan is where a machine answers at the port of VXLAN, or elsewhere if that is in use.
func (c *checking) vxlan(ctx context.Context, p *Pair, to *site) (netip.AddrPort, error) {
	a, err := to.answer(ctx, c.port)
	if err != nil {
		return a.At, err
	}
	if a.InUse {
		p.Notes = append(p.Notes, fmt.Sprintf("UDP port %d of %s is in use, as by the links of a lab that is up, so it is not known whether firewalls let it pass", c.port, to.Name))
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
