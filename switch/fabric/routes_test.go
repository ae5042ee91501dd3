package fabric

import (
	"math/rand/v2"
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
	spec := leafSpine()
	nodes, err := connect(spec)
	if err != nil {
		t.Fatal(err)
	}
	hosts := len(spec.Hosts)
	for at := hosts; at < len(nodes); at++ {
		nodes[at].ports = make([]transmitter, len(nodes[at].links))
		for i := range nodes[at].links {
			nodes[at].links[i].tx = &nodes[at].ports[i]
		}
	}
	routes, err := findRoutes(nodes, hosts)
	if err != nil {
		t.Fatal(err)
	}
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
			taken := map[*transmitter]bool{}
			for hash := range uint32(100) {
				taken[routes[at].port(&packet.Packet{Dst: int32(dst), Hash: hash * 0x9e3779b9}, 7)] = true
			}
			for _, e := range nodes[at].links {
				if taken[e.tx] != (hops[e.far] == hops[at]-1) {
					t.Errorf("%s to %s: the port to %s is on no shortest path, or is left out", nodes[at].name, nodes[dst].name, nodes[e.far].name)
				}
			}
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
	if n, at := unsafe.Sizeof(x), unsafe.Offsetof(x.wire); n > 5*line || at != line || unsafe.Sizeof(x.plans) > 2*line {
		t.Errorf("a transmitter is %d bytes, its wire begins at %d", n, at)
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
