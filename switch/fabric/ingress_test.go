package fabric

import (
	"slices"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// ackStar is three hosts at 1 Gbps, 10 us from a switch with ABQ on its ports:
// congested above 6 full packets, X = 6, 3, 1 of them.
func ackStar() Spec {
	spec := star(3, units.Gbps, 10*us)
	spec.Port.Ingress = kind.Choice{Kind: "abq", Params: map[string]any{"k": "9KB", "floor": "1500B", "q_max": "120KB"}}
	return spec
}

// exchange is a network in which a receiver answers data, and that writes down
// what the senders get back.
type exchange struct {
	*rig
	acks  []arrival
	bytes []occupancy // of the receiver's port, when an ACK enters the switch or data leaves
}

type arrival struct {
	at   time.Duration
	host int
	id   uint32
	ece  bool
}

type occupancy struct {
	at    time.Duration
	bytes int
}

// receiver is the host that the incast goes to.
const receiver = 2

func (e *exchange) Deliver(now time.Duration, host int, k *packet.Packet) {
	if host != receiver {
		e.acks = append(e.acks, arrival{now, host, k.Hash, k.ECE})
		e.pool.Put(k)
		return
	}
	k.Src, k.Dst, k.Size, k.PureACK = k.Dst, k.Src, 40, true
	e.Send(now, receiver, k)
}

func newExchange(t testing.TB, spec Spec) *exchange {
	t.Helper()
	e := &exchange{rig: &rig{}}
	n, err := New(&e.Loop, spec, Attachment{Edge: e, Release: e.pool.Put})
	if err != nil {
		t.Fatal(err)
	}
	e.Network = n
	return e
}

// incast sends n full packets from each of the two senders at once.
func (e *exchange) incast(n int) {
	for id := range 2 * n {
		k := e.pool.Get()
		src := id % 2
		k.Src, k.Dst, k.Size, k.Hash = int32(src), receiver, 1500, uint32(id/2)
		k.DSCP, k.ECN, k.PureACK, k.ECE = 0, packet.NotECT, false, false
		e.Send(0, src, k)
	}
}

// towards is the port of the star to a host.
func (e *exchange) towards(host string) Port {
	ports := e.Ports()
	return ports[slices.IndexFunc(ports, func(p Port) bool { return p.Far == host })]
}

// sample writes down the receiver's port every microsecond.
func (e *exchange) sample(until time.Duration) {
	p := e.towards("h3")
	var tick *event.Timer
	tick = event.NewTimer(func(now time.Duration) {
		e.bytes = append(e.bytes, occupancy{now, p.Bytes()})
		if now < until {
			e.Schedule(tick, now+us)
		}
	})
	e.Schedule(tick, 0)
}

// TestABQHoldsWhileDataIsQueued: two senders of 40 packets each fill the port
// to the receiver. Its ACKs wait while more than K is queued, and in the end
// every ACK reaches its sender in order, those that were released with the
// echo.
func TestABQHoldsWhileDataIsQueued(t *testing.T) {
	e := newExchange(t, ackStar())
	e.incast(40)
	e.sample(2 * time.Millisecond)
	e.RunUntil(5 * time.Millisecond)
	// A sender's port is empty and adds 40+38 bytes and 10 us to the moment at
	// which an ACK goes on.
	const way = 624*time.Nanosecond + 10*us
	first, last := congestedSpan(t, e.bytes, 9000)
	next, echoes := [2]uint32{}, int64(0)
	for _, a := range e.acks {
		if a.id != next[a.host] {
			t.Fatalf("host %d got the ACK of packet %d, want that of %d", a.host, a.id, next[a.host])
		}
		next[a.host]++
		if on := a.at - way; on > first && on < last {
			t.Errorf("an ACK went on at %v, with more than K queued from %v to %v", on, first, last)
		}
		if a.ece {
			echoes++
		}
	}
	c := e.towards("h3").Ingress.Count()
	if len(e.acks) != 80 || c.Held != c.Released || c.Held < 20 || c.MarkedECE != c.Released || echoes != c.MarkedECE {
		t.Errorf("%d ACKs, %d echoes, counted %+v", len(e.acks), echoes, c)
	}
	if e.pool.Taken() != 0 {
		t.Errorf("%d packets are not accounted for", e.pool.Taken())
	}
	for _, idle := range []string{"h1", "h2"} {
		if c := e.towards(idle).Ingress.Count(); c.Held != 0 {
			t.Errorf("port to %s held %d packets: its own queue carries ACKs only", idle, c.Held)
		}
	}
}

// congestedSpan is from when to when more than k bytes are queued, at the
// samples' grain, towards the inside.
func congestedSpan(t *testing.T, samples []occupancy, k int) (first, last time.Duration) {
	t.Helper()
	above := func(o occupancy) bool { return o.bytes > k }
	i := slices.IndexFunc(samples, above)
	if i < 0 {
		t.Fatalf("never more than %d bytes were queued", k)
	}
	first = samples[i].at
	for _, o := range samples[i:] {
		if !above(o) {
			break
		}
		last = o.at
	}
	if last-first < 100*us {
		t.Fatalf("congested from %v to %v only", first, last)
	}
	return first, last
}

// TestReleasesAreExact: packets leave the port every 12.304 us, so the ACKs
// that wait go on in the very moments in which the 6th, 3rd and last packet of
// the queue is the next.
func TestReleasesAreExact(t *testing.T) {
	e := newExchange(t, ackStar())
	e.incast(40)
	e.RunUntil(5 * time.Millisecond)
	const full = 12304 * time.Nanosecond
	// The first packets reach the switch one transmission and delay after the
	// start; the port then sends without a pause. n packets are queued when the
	// one before the last n starts.
	starts := func(queued int) time.Duration { return full + 10*us + time.Duration(80-queued-1)*full }
	const ackWay = 672*time.Nanosecond + 10*us // in the least frame: 64 bytes, preamble and gap
	for _, queued := range []int{6, 3, 1} {
		want := starts(queued) + ackWay
		if !slices.ContainsFunc(e.acks, func(a arrival) bool { return a.at == want && a.ece }) {
			t.Errorf("no ACK went on with the echo when %d packets were queued, at %v", queued, want)
		}
	}
}

// TestWithoutIngressNothingWaits: the same network without ABQ passes every ACK
// at once and unchanged.
func TestWithoutIngressNothingWaits(t *testing.T) {
	spec := ackStar()
	spec.Port.Ingress = kind.Choice{}
	e := newExchange(t, spec)
	e.incast(40)
	e.RunUntil(5 * time.Millisecond)
	if len(e.acks) != 80 || slices.ContainsFunc(e.acks, func(a arrival) bool { return a.ece }) {
		t.Errorf("%d ACKs: %v", len(e.acks), e.acks)
	}
	if p := e.towards("h3"); p.Ingress != nil || p.Ingress.Count().Held != 0 {
		t.Errorf("an ingress side that nobody asked for: %+v", p.Ingress.Count())
	}
}

// TestEmptyGivesBackWhatWaits: a network that ends in the middle of congestion
// still holds ACKs, which go back to the pool.
func TestEmptyGivesBackWhatWaits(t *testing.T) {
	e := newExchange(t, ackStar())
	e.incast(40)
	e.RunUntil(400 * us)
	c := e.towards("h3").Ingress.Count()
	waiting := int(c.Held - c.Released)
	before := e.pool.Taken()
	if e.Empty(); waiting == 0 || before-e.pool.Taken() != waiting {
		t.Errorf("%d packets before, %d after, %d waited", before, e.pool.Taken(), waiting)
	}
}

// TestIngressBetweenSwitches: with gates at all ports, an ACK passes the ingress
// side of the very port that its data leaves by, in each switch on its way.
func TestIngressBetweenSwitches(t *testing.T) {
	spec := ackStar()
	spec.Port.Ingress.Params["ports"] = "all"
	spec.Switches = []string{"s1", "s2"}
	spec.Links[receiver].B = "s2"
	spec.Links = append(spec.Links, Link{A: "s1", B: "s2", Rate: units.Gbps, Delay: 10 * us})
	e := newExchange(t, spec)
	e.incast(40)
	e.RunUntil(5 * time.Millisecond)
	for _, p := range e.Ports() {
		congested := p.Switch == "s1" && p.Far == "s2" // two senders share it; behind it there is nothing to queue
		if c := p.Ingress.Count(); (c.Held > 0) != congested || c.Held != c.Released {
			t.Errorf("port of %s to %s: counted %+v", p.Switch, p.Far, c)
		}
	}
	if len(e.acks) != 80 || e.pool.Taken() != 0 {
		t.Errorf("%d ACKs of 80, %d packets left", len(e.acks), e.pool.Taken())
	}
}

// TestIngressOfHostsOnly: in a leaf-spine an ACK may come back by another spine
// than its data went by. The authors' program holds ACKs only where they can come
// in by no wrong port: at ports that face hosts.
func TestIngressOfHostsOnly(t *testing.T) {
	for ports, want := range map[string]struct{ hosts, switches bool }{
		"":      {true, false},
		"hosts": {true, false},
		"all":   {true, true},
	} {
		spec := ackStar()
		if ports != "" {
			spec.Port.Ingress.Params["ports"] = ports
		}
		spec.Switches = []string{"leaf1", "leaf2", "spine1", "spine2"}
		for i, leaf := range []string{"leaf1", "leaf1", "leaf2"} {
			spec.Links[i].B = leaf
		}
		for _, leaf := range spec.Switches[:2] {
			for _, spine := range spec.Switches[2:] {
				spec.Links = append(spec.Links, Link{A: leaf, B: spine, Rate: 600 * units.Mbps, Delay: 10 * us})
			}
		}
		e := newExchange(t, spec)
		e.incast(200)
		e.RunUntil(20 * time.Millisecond)
		held := map[bool]bool{} // by whether the port faces a host
		for _, p := range e.Ports() {
			host := p.Far[0] == 'h'
			held[host] = held[host] || p.Ingress.Count().Held > 0
			if built := p.Ingress != nil; built != (host || want.switches) {
				t.Errorf("ports %q: that of %s to %s has a gate: %v", ports, p.Switch, p.Far, built)
			}
		}
		if held[true] != want.hosts || held[false] != want.switches {
			t.Errorf("ports %q: held at ports to hosts %v, to switches %v; want %+v", ports, held[true], held[false], want)
		}
		if len(e.acks) != 400 || e.pool.Taken() != 0 {
			t.Errorf("ports %q: %d ACKs of 400, %d packets left", ports, len(e.acks), e.pool.Taken())
		}
	}
}

// TestIngressDoesNotAllocate: once the slabs are there, an exchange through a
// congested port allocates nothing.
func TestIngressDoesNotAllocate(t *testing.T) {
	e := newExchange(t, ackStar())
	at := time.Duration(0)
	round := func() {
		e.acks = e.acks[:0]
		e.incast(40)
		at += 5 * time.Millisecond
		e.RunUntil(at)
	}
	round()
	if n := testing.AllocsPerRun(10, round); n != 0 {
		t.Errorf("%v allocations for 80 packets", n)
	}
}

func TestBadIngress(t *testing.T) {
	spec := ackStar()
	spec.Port.Ingress.Params["k"] = "0B"
	var loop event.Loop
	_, err := New(&loop, spec, Attachment{})
	if want := "fabric: switch s1, port to h1: ingress: abq: k: 0B is outside 1B to 1000GB"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
