package fabric

import (
	"fmt"
	"time"

	"aqmlab/switch/packet"
	"aqmlab/switch/port"
)

// making is how a port of the network was made.
type making struct {
	spec  port.Spec
	tx    *transmitter
	drops func(*packet.Packet) // takes what the port drops
}

// Change readies all ports to go on as spec says of a port, see [port.Port.Change].
// Nothing happens before change is called, on the event loop. ACKs that an ingress side
// holds go on then, as they are. Errors name the port, and the parameter that does not
// fit. Of spec, the rate, the seed and what ports face are those of each port.
func (n *Network) Change(spec port.Spec) (change func(now time.Duration), err error) {
	pools := map[string]*port.Pool{}
	changes := make([]func(time.Duration), len(n.ports))
	for i := range n.ports {
		p := &n.ports[i]
		if pools[p.Switch] == nil {
			pools[p.Switch] = port.NewPool(spec.Buffer)
		}
		from := n.makings[i].spec
		to := spec
		to.Rate, to.Seed, to.FacesHost = from.Rate, from.Seed, from.FacesHost
		if changes[i], err = n.changePort(i, to, pools[p.Switch]); err != nil {
			return nil, fmt.Errorf("port of %s to %s: %w", p.Switch, p.Far, err)
		}
	}
	return func(now time.Duration) {
		for _, c := range changes {
			c(now)
		}
	}, nil
}

// changePort readies the port of that index.
func (n *Network) changePort(i int, to port.Spec, pool *port.Pool) (func(time.Duration), error) {
	p, m := &n.ports[i], &n.makings[i]
	change, err := p.Port.Change(m.spec, to, n.to.Kinds, pool)
	if err != nil {
		return nil, err
	}
	var gate *port.Ingress
	if p.in != nil {
		if gate, err = port.NewIngress(to, port.Outlet{Forward: p.in.forward, Release: m.drops}); err != nil {
			return nil, err
		}
	}
	return func(now time.Duration) {
		change(now)
		m.spec = to
		p.regate(now, gate, m.tx)
		m.tx.resume(now)
	}, nil
}

// regate gives a port of a switch another ingress side, or none for nil. Without, the
// one before stays for what it has counted.
func (p *Port) regate(now time.Duration, gate *port.Ingress, tx *transmitter) {
	if p.in == nil || p.in.gate == nil && gate == nil {
		return
	}
	before := p.Ingress
	p.in.gate, tx.ingress = gate, gate
	p.in.build()
	before.Replace(now, gate)
	if gate != nil {
		p.Ingress = gate
	}
}

// resume has a transmitter go on after its port has changed: what it waited for may be
// over.
func (t *transmitter) resume(now time.Duration) {
	if !t.busy {
		t.wire.lane.Cancel(&t.next)
	}
	if t.port.Bytes() > 0 && !t.stopped {
		t.wake(now)
	}
	t.occupied(now)
}
