package trafficgen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"aqmlab/kind"
)

// pattern says who asks whom.
type pattern struct {
	name    string
	clients func(hosts int) int // how many hosts ask, each with the spec's load
	pick    func(r *rand.Rand, hosts int) (client, server int)
}

// patternList holds the patterns: many-to-one is the testbed of the TCN and
// MQ-ECN papers, where one host asks all others; in all-to-all every host is
// both.
func patternList() []pattern {
	return []pattern{
		{"many-to-one", func(int) int { return 1 }, manyToOne},
		{"all-to-all", func(hosts int) int { return hosts }, allToAll},
	}
}

// Patterns lists the names of the patterns. In many-to-one host 0 asks and
// every other host serves, picked uniformly for each flow. In all-to-all the
// client is picked uniformly among all hosts and the server among the others.
func Patterns() []string {
	var names []string
	for _, p := range patternList() {
		names = append(names, p.name)
	}
	return names
}

func findPattern(name string) (pattern, error) {
	all := patternList()
	i := slices.IndexFunc(all, func(p pattern) bool { return p.name == name })
	if i < 0 {
		return pattern{}, fmt.Errorf("%w pattern %q: want one of %s", kind.ErrUnknown, name, strings.Join(Patterns(), ", "))
	}
	return all[i], nil
}

func manyToOne(r *rand.Rand, hosts int) (client, server int) {
	return 0, 1 + r.IntN(hosts-1)
}

func allToAll(r *rand.Rand, hosts int) (client, server int) {
	client = r.IntN(hosts)
	server = r.IntN(hosts - 1)
	if server >= client {
		server++
	}
	return client, server
}
