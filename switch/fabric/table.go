package fabric

import (
	"slices"
	"time"

	"aqmlab/switch/packet"
)

// table is where a switch sends what it forwards. A large network has many switches, and
// whatever a packet meets on its way should be in a near cache. So there are routes to
// homes, of which there are far fewer than hosts, and each set of paths is stored once.
type table struct {
	homes []home        // of all hosts; all tables have the same
	paths []int32       // for each home, where in sets its set begins, or own
	sets  []int32       // of ports on shortest paths: how many, and then which
	ports []transmitter // of the switch, in the order of its links
}

// own are the paths of a switch to those hosts whose home it is.
const own int32 = -1

// home is the switch that a host is at.
type home struct {
	number int32 // among the homes
	link   int32 // to the host, among those of the switch
}

// add gives the next home its paths, by the ports of these links.
func (t *table) add(links []int32) {
	at := 0
	for at < len(t.sets) && !slices.Equal(t.set(at), links) {
		at += 1 + len(t.set(at))
	}
	if at == len(t.sets) {
		t.sets = append(append(t.sets, int32(len(links))), links...)
	}
	t.paths = append(t.paths, int32(at))
}

// addOwn says that the next home is the switch.
func (t *table) addOwn() { t.paths = append(t.paths, own) }

// set is the set that begins there.
func (t *table) set(at int) []int32 { return t.sets[at+1:][:t.sets[at]] }

// copyFrom gives the next home the paths that one has in another table of the switch.
func (t *table) copyFrom(other *table, home int) {
	at := other.paths[home]
	if at == own {
		t.addOwn()
		return
	}
	t.add(other.set(int(at)))
}

// port is the one by which a packet goes on. Where several are on shortest paths, the hash
// of its flow says which, and salt, so that two switches do not choose alike.
func (t *table) port(k *packet.Packet, salt uint32) *transmitter {
	to := t.homes[k.Dst]
	at := t.paths[to.number]
	if at == own {
		return &t.ports[to.link]
	}
	if n := t.sets[at]; n > 1 {
		at += spread(k.Hash^salt, n)
	}
	return &t.ports[t.sets[at+1]]
}

// spread maps a hash evenly to one of n paths. The hash is mixed once more, since those of
// two switches differ by their salt alone.
func spread(hash uint32, n int32) int32 {
	h := uint64(hash) * 0x9e3779b97f4a7c15
	return int32((h >> 32) * uint64(n) >> 32)
}

// forwarder returns what a switch does with a packet.
func forwarder(routes *table, salt uint32) func(time.Duration, *packet.Packet) {
	return func(now time.Duration, k *packet.Packet) { routes.port(k, salt).enqueue(now, k) }
}
