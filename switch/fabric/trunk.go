package fabric

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
)

// checkPart wants a part of the network that can run apart from the rest.
func (s Spec) checkPart() error {
	switch {
	case s.Only == "":
		return nil
	case !slices.Contains(s.Switches, s.Only):
		return fmt.Errorf("part %s: no such switch", s.Only)
	case s.Pause.on():
		return errors.New("pause: flow control reaches over links inside of a network only, and this is a part of one")
	}
	return nil
}

// carries tells whether the network has that switch.
func (s Spec) carries(name string) bool { return s.Only == "" || s.Only == name }

// Edges lists what the network ends at: the hosts that are linked to a switch
// of it, and the links to switches that it does not carry, both by their index
// in the spec.
func (s Spec) Edges() (hosts, trunks []int) {
	index := map[string]int{}
	for i, h := range s.Hosts {
		index[h.Name] = i
	}
	for i, l := range s.Links {
		a, hostA := index[l.A]
		b, hostB := index[l.B]
		switch {
		case hostA && s.carries(l.B):
			hosts = append(hosts, a)
		case hostB && s.carries(l.A):
			hosts = append(hosts, b)
		case !hostA && !hostB && s.carries(l.A) != s.carries(l.B):
			trunks = append(trunks, i)
		}
	}
	slices.Sort(hosts)
	return hosts, trunks
}

// inlet is the receiving end of a link from a switch that the network does not
// carry. The two ends share the link's delay: each has time for packets that
// are noticed late.
type inlet struct {
	delay   time.Duration
	last    time.Duration // when the newest packet enters
	waiting packet.Queue
	next    *event.Timer
}

// sentDelay is the sending end's share of a trunk's delay.
func sentDelay(l Link) time.Duration { return l.Delay / 2 }

// addInlet makes the receiving end of a trunk.
func (n *Network) addInlet(e end) {
	in := &inlet{delay: e.link.Delay - sentDelay(e.link)}
	in.next = event.NewTimer(func(now time.Duration) {
		k := in.waiting.Pop()
		if next := in.waiting.Head(); next != nil {
			n.loop.Schedule(in.next, next.Due)
		}
		e.in.take(now, k)
	})
	n.inlets[e.number/2] = in
}

// Arrive hands the network a packet that came by a trunk at the lab time at,
// which may lie before the loop's time as with [Network.Send].
func (n *Network) Arrive(at time.Duration, trunk int, k *packet.Packet) {
	in := n.inlets[trunk]
	k.Due = max(at+in.delay, in.last)
	if k.Due < n.loop.Now() {
		k.Due = n.loop.Now()
		n.clamped++
	}
	in.last = k.Due
	in.waiting.Push(k)
	if !in.next.Pending() {
		n.loop.Schedule(in.next, k.Due)
	}
}
