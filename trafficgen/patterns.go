package trafficgen

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"aqmlab/kind"
)

// layout is where the hosts are that a pattern pairs.
type layout struct {
	hosts int
	racks []int // of each host; nil: all in one
	one   int   // the host that a pattern singles out
}

// apart tells whether two hosts are in different racks.
func (l layout) apart(a, b int) bool { return l.racks != nil && l.racks[a] != l.racks[b] }

// others is host number i, from 0, of all but the one.
func (l layout) others(i int) int {
	if i >= l.one {
		i++
	}
	return i
}

// pattern says which hosts are clients and servers of each other.
type pattern struct {
	name  string
	links func(l layout) int // how many links of hosts share the load
	// oneClient and oneServer say that one host receives or sends all flows; apart,
	// that no flow stays within a rack.
	oneClient, oneServer, apart bool
	has                         func(l layout, client, server int) bool
	// serves tells whether a host sends flows; nil where every host does.
	serves func(l layout, host int) bool
	pick   func(r *rand.Rand, l layout) (client, server int)
	// turn is the k-th pair of a flow that is not drawn; nil where every pair is.
	turn func(l layout, k int) (client, server int)
}

// patternList holds the patterns. Many-to-one is the testbed of the TCN and
// MQ-ECN papers, where one host asks all others; all-to-all is their large
// simulation.
func patternList() []pattern {
	single := func(layout) int { return 1 }
	every := func(l layout) int { return l.hosts }
	return []pattern{
		{
			name: "many-to-one", oneClient: true,
			links:  single,
			serves: func(l layout, host int) bool { return host != l.one },
			has:    func(l layout, client, server int) bool { return client == l.one && server != l.one },
			pick:   func(r *rand.Rand, l layout) (client, server int) { return l.one, l.others(r.IntN(l.hosts - 1)) },
			turn:   func(l layout, k int) (client, server int) { return l.one, l.others(k % (l.hosts - 1)) },
		},
		{
			name:  "all-to-all",
			links: every,
			has:   func(_ layout, client, server int) bool { return client != server },
			pick:  allToAll,
		},
		{
			name: "one-to-many", oneServer: true,
			links:  single,
			serves: func(l layout, host int) bool { return host == l.one },
			has:    func(l layout, client, server int) bool { return server == l.one && client != l.one },
			pick:   func(r *rand.Rand, l layout) (client, server int) { return l.others(r.IntN(l.hosts - 1)), l.one },
			turn:   func(l layout, k int) (client, server int) { return l.others(k % (l.hosts - 1)), l.one },
		},
		{
			name: "inter-rack", apart: true,
			links: every,
			has:   layout.apart,
			pick:  interRack,
		},
	}
}

// Patterns lists the names of the patterns. In many-to-one one host asks and
// every other host serves, picked uniformly for each flow; in one-to-many it
// serves all others. In all-to-all the client is picked uniformly among all
// hosts and the server among the others; in inter-rack, among those in other
// racks.
func Patterns() []string {
	var names []string
	for _, p := range patternList() {
		names = append(names, p.name)
	}
	return names
}

// Serves tells whether a host sends flows, and does not only ask for them. What a
// replayed trace has is not looked at: there every host may.
func (s Spec) Serves(host int) bool {
	if slices.ContainsFunc(s.Background, func(b Spec) bool { return b.Serves(host) }) {
		return true
	}
	all := patternList()
	i := slices.IndexFunc(all, func(p pattern) bool { return p.name == s.Pattern })
	return i < 0 || s.Arrival.Kind == replayed || all[i].serves == nil || all[i].serves(layout{one: s.Host}, host)
}

func findPattern(name string, l layout) (pattern, error) {
	all := patternList()
	i := slices.IndexFunc(all, func(p pattern) bool { return p.name == name })
	if i < 0 {
		return pattern{}, kind.Unknown("pattern", name, Patterns())
	}
	if all[i].apart && !slices.ContainsFunc(l.racks, func(rack int) bool { return rack != l.racks[0] }) {
		return pattern{}, fmt.Errorf("pattern %s: all hosts are in one rack: want at least two racks", name)
	}
	return all[i], nil
}

func allToAll(r *rand.Rand, l layout) (client, server int) {
	l.one = r.IntN(l.hosts)
	return l.one, l.others(r.IntN(l.hosts - 1))
}

// interRack draws again until the server is in another rack than the client,
// which leaves all such servers equally likely.
func interRack(r *rand.Rand, l layout) (client, server int) {
	client = r.IntN(l.hosts)
	for {
		if server = r.IntN(l.hosts); l.apart(client, server) {
			return client, server
		}
	}
}
