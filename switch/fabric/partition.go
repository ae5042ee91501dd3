package fabric

import (
	"cmp"
	"slices"
	"time"

	"aqmlab/switch/packet"
	"aqmlab/units"
)

// worthwhile is how many full packets all links together should be able to send in a
// window: with fewer, parts would wait for each other, and for what they send each other,
// more than they run.
const worthwhile = 256

// inseparable is the time below which links keep their ends in one part, see
// [Spec.lookahead].
func (s Spec) inseparable() time.Duration {
	var capacity units.Rate
	for _, l := range s.Links {
		capacity += 2 * l.Rate
	}
	return capacity.Time(worthwhile * packet.OnWire(fullPacket))
}

// fullPacket is the network-layer length of most full packets.
const fullPacket = 1500

// Window is how long the parts of the network may run without hearing of each other,
// however it is partitioned: the least lookahead of links between two clusters. It is
// zero when all is one cluster.
func (s Spec) Window() time.Duration {
	window, least := time.Duration(0), s.inseparable()
	for i := range s.Links {
		if d := s.lookahead(i); d >= least && (window == 0 || d < window) {
			window = d
		}
	}
	return window
}

// lookahead is how long before it arrives it is known, at the other end of a link, what a
// link brings: the least delay that it ever has, and, since packets are sent whole, what
// the shortest one takes at the highest rate. Pause frames are not sent behind packets, and
// take only the delay.
func (s Spec) lookahead(link int) time.Duration {
	delay, rate := s.Links[link].Delay, s.Links[link].Rate
	for _, states := range [][]LinkState{s.Timeline.states(2 * link), s.Timeline.states(2*link + 1)} {
		for _, state := range states {
			delay, rate = min(delay, state.Delay), max(rate, state.Rate)
		}
	}
	if s.Pause.on() || rate <= 0 {
		return delay
	}
	const fraction = time.Nanosecond // that a transmitter may owe from the packet before
	return delay + max(0, rate.Time(packet.OnWire(0))-fraction)
}

// Clusters tells which switches no partition may separate: those with the same number.
// That of the hosts, and of what cannot be separated from them, is zero.
func (s Spec) Clusters() []int {
	number := map[string]int{}
	for i, name := range s.Switches {
		number[name] = i + 1
	}
	cluster := make([]int, len(s.Switches)+1) // the first is the hosts
	for i := range cluster {
		cluster[i] = i
	}
	least := s.inseparable()
	for i, l := range s.Links {
		a, b := cluster[number[l.A]], cluster[number[l.B]]
		if a == b || s.lookahead(i) >= least {
			continue
		}
		for at, c := range cluster {
			if c == max(a, b) {
				cluster[at] = min(a, b)
			}
		}
	}
	return cluster[1:]
}

// Partition spreads the switches over at most so many parts, with about the same work
// for each, and returns how many there are. A part's work is taken to be what its links
// can send.
func (s Spec) Partition(most int) (parts int, of []int) {
	of = s.Clusters()
	work := make([]units.Rate, len(of)+1) // of each cluster
	number := map[string]int{}
	for i, name := range s.Switches {
		number[name] = of[i]
	}
	for _, l := range s.Links {
		work[number[l.A]] += l.Rate
		work[number[l.B]] += l.Rate
	}
	var clusters []int
	for c, w := range work {
		if w > 0 && c > 0 {
			clusters = append(clusters, c)
		}
	}
	slices.SortStableFunc(clusters, func(a, b int) int { return cmp.Compare(work[b], work[a]) })
	parts = max(1, min(most, len(clusters)+1))
	load, place := make([]units.Rate, parts), make([]int, len(work))
	load[0] = work[0] // the hosts
	for _, c := range clusters {
		least := 0
		for p := range load {
			if load[p] < load[least] {
				least = p
			}
		}
		place[c] = least
		load[least] += work[c]
	}
	for i, c := range of {
		of[i] = place[c]
	}
	return parts, of
}
