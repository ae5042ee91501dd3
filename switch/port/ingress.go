package port

import (
	"fmt"
	"time"

	"aqmlab/switch/packet"
)

// Ingress is the ingress side of one switch port: it takes what enters the
// switch by the port's link and holds the pure ACKs among it while the gate
// says so. Like the port it is handed the lab time and allocates nothing per
// packet. Everything but pure ACKs goes on at once; the order among pure ACKs
// is kept.
type Ingress struct {
	gate    Gate
	queue   packet.Queue // Q_in; without a limit
	count   IngressCount
	forward func(now time.Duration, k *packet.Packet)
}

// IngressCount adds up what happened to the pure ACKs that entered by a port.
// Held less Released are waiting.
type IngressCount struct {
	Held        int64 // had to wait
	Released    int64 // went on after having waited
	MarkedECE   int64 // got the ECN echo when released; those that had it are not counted
	PeakPackets int   // most that ever waited at once
	PeakBytes   int   // most bytes that ever waited at once
}

// NewIngress builds the ingress side that a port's spec asks for, or returns nil when
// it asks for none or the gate leaves the port alone. Packets that go on are handed to forward. Errors name the parameter
// that does not fit.
func NewIngress(spec Spec, forward func(time.Duration, *packet.Packet)) (*Ingress, error) {
	if spec.Ingress.Kind == "" {
		return nil, nil
	}
	gate, err := Gates().New(spec.Ingress.Kind, spec.Ingress.Params, GateEnv{Buffer: spec.Buffer, FacesHost: spec.FacesHost})
	if err != nil {
		return nil, fmt.Errorf("ingress: %w", err)
	}
	if gate == nil {
		return nil, nil
	}
	return &Ingress{gate: gate, forward: forward}, nil
}

// Enter takes a packet that enters the switch at now.
func (i *Ingress) Enter(now time.Duration, k *packet.Packet) {
	if !k.PureACK || !i.gate.Holds() {
		i.forward(now, k)
		return
	}
	i.queue.Push(k)
	c := &i.count
	c.Held++
	c.PeakPackets = max(c.PeakPackets, i.queue.Len())
	c.PeakBytes = max(c.PeakBytes, i.queue.Bytes())
}

// Occupied tells how many bytes the port's queues hold after a packet joined or
// left them at now. It may forward packets, in the order in which they came.
func (i *Ingress) Occupied(now time.Duration, bytes int) {
	release := i.gate.Occupied(bytes)
	if release == Keep {
		return
	}
	for k := i.queue.Pop(); k != nil; k = i.queue.Pop() {
		if release == FreeECE && !k.ECE {
			k.SetECE()
			i.count.MarkedECE++
		}
		i.count.Released++
		i.forward(now, k)
	}
}

// Empty hands every packet that waits to release, which owns it from then on.
// They do not count as released. Without an ingress side there are none.
func (i *Ingress) Empty(release func(*packet.Packet)) {
	if i == nil {
		return
	}
	for k := i.queue.Pop(); k != nil; k = i.queue.Pop() {
		release(k)
	}
}

// Count is what has been counted; all zero without an ingress side.
func (i *Ingress) Count() IngressCount {
	if i == nil {
		return IngressCount{}
	}
	return i.count
}
