package fabric

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"aqmlab/switch/packet"
	"aqmlab/units"
)

// TestRoutesShareSets: in a leaf-spine, a leaf has one set of ways, by all spines, to
// the hosts of others; a spine has a way to each leaf. Every way is one hop shorter than
// what it leaves, and every one of those is taken by some flows.
func TestRoutesShareSets(t *testing.T) {
	nodes, hosts, routes := routed(t, leafSpine())
	for at := hosts; at < len(nodes); at++ {
		want := 2 * (1 + 1) // leaves, by a port each
		if nodes[at].name[0] == 'l' {
			want = 1 + 4 // the other leaf, by four spines
		}
		if n := len(routes[at].sets); n != want || len(routes[at].paths) != 2 {
			t.Errorf("%s: sets of %d numbers for %d homes, want %d for two", nodes[at].name, n, len(routes[at].paths), want)
		}
		for dst := range hosts {
			hops := distances(nodes, hosts, dst, nil)
			ports := taken(&routes[at], dst)
			for _, e := range nodes[at].links {
				if ports[e.tx] != (hops[e.far] == hops[at]-1) {
					t.Errorf("%s to %s: the port to %s is on no shortest path, or is left out", nodes[at].name, nodes[dst].name, nodes[e.far].name)
				}
			}
		}
	}
}

// routed are the nodes of a spec, how many hosts are among them, and the routes.
func routed(t *testing.T, spec Spec) ([]node, int, []table) {
	nodes, err := connect(spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.place(nodes)
	for at := range nodes {
		for i := range nodes[at].ports {
			nodes[at].links[i].tx = &nodes[at].ports[i]
		}
	}
	routes, err := findRoutes(nodes, len(spec.Hosts))
	if err != nil {
		t.Fatal(err)
	}
	return nodes, len(spec.Hosts), routes
}

// taken are the ports by which a switch sends a hundred flows to a host.
func taken(routes *table, dst int) map[*transmitter]bool {
	ports := map[*transmitter]bool{}
	for hash := range uint32(100) {
		ports[routes.port(&packet.Packet{Dst: int32(dst), Hash: hash * 0x9e3779b9}, 7)] = true
	}
	return ports
}

// TestRoutesToHostThatIsCutOff: to a host whose link is down routes stay as they were, while
// those to another host of its leaf go around a spine that the leaf cannot be reached by.
func TestRoutesToHostThatIsCutOff(t *testing.T) {
	spec := leafSpine()
	nodes, hosts, routes := routed(t, spec)
	down := make([]bool, len(spec.Links))
	down[0] = true // of the first host
	down[slices.IndexFunc(spec.Links, func(l Link) bool { return l.A == "l1" && l.B == "p1" })] = true
	around := routesAround(nodes, hosts, routes, down)
	l1, l2 := hosts, hosts+1
	for dst, want := range []int{4, 3} {
		if n := len(taken(&around[l2], dst)); n != want {
			t.Errorf("l2 reaches %s by %d spines, want %d", nodes[dst].name, n, want)
		}
		if ports := taken(&around[l1], dst); len(ports) != 1 || !ports[nodes[l1].links[dst].tx] {
			t.Errorf("l1 does not send what is for %s by its link", nodes[dst].name)
		}
	}
}

// TestCacheLines: a wire is two cache lines of 64 bytes, of which an arrival
// reads the first, and a transmitter one and its wire, and two more for a port that tells
// ahead when packets leave.
func TestCacheLines(t *testing.T) {
	const line = 64
	var w wire
	var x transmitter
	if n, sink := unsafe.Sizeof(w), unsafe.Offsetof(w.loop); n != 2*line || sink+8 > line {
		t.Errorf("a wire is %d bytes, and an arrival reads %d", n, sink+8)
	}
	if n, at := unsafe.Sizeof(x), unsafe.Offsetof(x.wire); n != 5*line || at != line || unsafe.Sizeof(x.plans) > 2*line {
		t.Errorf("a transmitter is %d bytes, its wire begins at %d", n, at)
	}
}

// TestPortsBeginWithCacheLines: in a small network, too.
func TestPortsBeginWithCacheLines(t *testing.T) {
	const line = 64
	for i, m := range newRig(t, star(9, units.Gbps, us)).makings {
		if at := uintptr(unsafe.Pointer(m.tx)) % line; at != 0 {
			t.Errorf("port %d begins %d bytes into a cache line", i, at)
		}
	}
}

// TestArrivals: each packet on a link with jitter arrives when the link set it
// to, whether others were on the way before it or none.
func TestArrivals(t *testing.T) {
	spec := star(2, units.Gbps, 3*us)
	spec.Links[0].Jitter = 20 * us
	r := newRig(t, spec)
	rng := rand.New(rand.NewPCG(9, 1))
	w, arrived := r.hosts[0].wire, 0
	sink := w.sink
	w.sink = func(now time.Duration, k *packet.Packet) {
		if arrived++; now != k.Due {
			t.Errorf("packet %d arrived at %v, due %v", arrived, now, k.Due)
		}
		sink(now, k)
	}
	for at := time.Duration(0); at < 10*time.Millisecond; at += time.Duration(rng.IntN(40)) * us {
		r.RunUntil(at)
		r.send(at, 0, 1, 1000)
	}
	r.RunUntil(time.Second)
	if arrived < 300 || arrived != len(r.log) {
		t.Errorf("%d packets arrived, %d were delivered", arrived, len(r.log))
	}
}
