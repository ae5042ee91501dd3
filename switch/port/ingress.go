package port

import (
	"fmt"
	"time"

	"aqmlab/switch/packet"
)

// Ingress is the ingress side of one switch port: it takes what enters the
// switch by the port's link and holds the pure ACKs among it while the gate
// says so. Like the port it is handed the lab time and allocates nothing per
// packet. Everything but pure ACKs goes on at once; the order among those that
// wait is kept.
type Ingress struct {
	gate    Gate
	waiting Waiting
	queue   packet.Queue // Q_in; without a limit
	count   IngressCount
	out     Outlet
}

// Outlet is where packets go that have passed the ingress side of a port.
type Outlet struct {
	Forward func(now time.Duration, k *packet.Packet)
	Release func(*packet.Packet) // takes ACKs whose place a later one took
}

// IngressCount adds up what happened to the pure ACKs that entered by a port.
// Held less Released and Replaced are waiting.
type IngressCount struct {
	Held        int64 // had to wait
	Released    int64 // went on after having waited
	Replaced    int64 // gave their place to a later one of their flow, and are gone
	Cut         int64 // times that one's window was made smaller
	MarkedECE   int64 // got the ECN echo when released; those that had it are not counted
	PeakPackets int   // most that ever waited at once
	PeakBytes   int   // most bytes that ever waited at once
}

// NewIngress builds the ingress side that a port's spec asks for, or returns nil when
// it asks for none or the gate leaves the port alone. Errors name the parameter that
// does not fit.
func NewIngress(spec Spec, out Outlet) (*Ingress, error) {
	if spec.Ingress.Kind == "" {
		return nil, nil
	}
	gate, err := Gates().New(spec.Ingress.Kind, spec.Ingress.Params, GateEnv{Buffer: spec.Buffer, FullPacket: spec.FullPacket(), FacesHost: spec.FacesHost})
	if err != nil {
		return nil, fmt.Errorf("ingress: %w", err)
	}
	if gate == nil {
		return nil, nil
	}
	return &Ingress{gate: gate, waiting: gate.Waiting(), queue: packet.NewQueue(spec.Lengths), out: out}, nil
}

// Enter takes a packet that enters the switch at now. One that goes on passes those
// that wait, and may be the occasion for them.
func (i *Ingress) Enter(now time.Duration, k *packet.Packet) {
	wait, then := i.gate.Enter(k.PureACK)
	if !wait {
		i.out.Forward(now, k)
		i.release(now, then)
		return
	}
	c := &i.count
	c.Held++
	if !i.waiting.Latest {
		i.queue.Push(k)
	} else if old := i.queue.Replace(k); old != nil {
		c.Replaced++
		i.out.Release(old)
	}
	c.PeakPackets = max(c.PeakPackets, i.queue.Len())
	c.PeakBytes = max(c.PeakBytes, i.queue.Bytes())
}

// Occupied tells how many bytes the port's queues hold after a packet joined or
// left them at now. It may forward packets, in the order in which they came.
func (i *Ingress) Occupied(now time.Duration, bytes int) {
	i.release(now, i.gate.Occupied(bytes))
}

// release lets go as many as the gate wants.
func (i *Ingress) release(now time.Duration, release Release) {
	if release == Keep {
		return
	}
	free, window := i.gate.Share(i.queue.Len())
	if window > 0 {
		i.cut(window)
	}
	for ; free > 0; free-- {
		k := i.queue.Pop()
		if k == nil { // one that went on was the occasion for another release
			return
		}
		if release == FreeECE && !k.ECE {
			k.SetECE()
			i.count.MarkedECE++
		}
		i.count.Released++
		i.out.Forward(now, k)
	}
}

// cut makes the windows of all that wait that small.
func (i *Ingress) cut(window int) {
	for k := i.queue.Head(); k != nil; k = k.Next {
		if k.CutWindow(window, i.waiting.Shift) {
			i.count.Cut++
		}
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

// Replace has another ingress side take the place of this one at now: all ACKs that wait
// go on, and next goes on counting where this one ends. Either may be nil.
func (i *Ingress) Replace(now time.Duration, next *Ingress) {
	if i == nil {
		return
	}
	for k := i.queue.Pop(); k != nil; k = i.queue.Pop() {
		i.count.Released++
		i.out.Forward(now, k)
	}
	if next != nil {
		next.count = i.count
	}
}
