package labs

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"aqmlab/labs/basertt"
	"aqmlab/switch/aqm"
)

// PerFlow tells whether the flows of a host differ in their base RTTs.
func (r RTT) PerFlow() bool { return r.Max > r.Min && r.Per == perFlow }

// flowClasses is how many RTTs the flows of a host share. Each stands for as
// large a part of the distribution.
const flowClasses = 128

// delays are how long each host holds back what it sends, so that base RTTs are
// those of the lab's distribution. They depend on the seed alone, and not on
// what the same seed draws elsewhere. A host that only asks holds nothing back: its
// requests would add a delay of their own to the RTT of the answer.
//
// A host of its own RTT has one delay, drawn at random. Flows of their own RTT
// share the delays of classes, one from the middle of each of as many equal
// parts of the distribution, so that few flows, too, see all of it.
func (l *Lab) delays(seed uint64, hosts int) ([][]time.Duration, error) {
	all := make([][]time.Duration, hosts)
	if l.RTT.Max == l.RTT.Min {
		return all, nil
	}
	at, err := l.RTT.shape()
	if err != nil {
		return nil, err
	}
	delay := func(u float64) time.Duration { return l.RTT.above(at(u)) }
	classes := make([]time.Duration, flowClasses)
	for i := range classes {
		classes[i] = delay((float64(i) + 0.5) / flowClasses)
	}
	root := rand.NewPCG(seed, 0x8f1d3ab26c05e947) // any constant that nothing else draws with
	r := rand.New(rand.NewPCG(root.Uint64(), root.Uint64()))
	traffic := l.Traffic(l.Workload.Load[0], seed)
	for i := range all {
		if l.RTT.Per == perHost {
			all[i] = []time.Duration{delay(r.Float64())}
		} else {
			r.Shuffle(flowClasses, func(a, b int) { classes[a], classes[b] = classes[b], classes[a] })
			all[i] = slices.Clone(classes)
		}
		if !traffic.Serves(i) {
			all[i] = []time.Duration{0}
		}
	}
	return all, nil
}

func (r RTT) shape() (basertt.Shape, error) {
	return basertt.Table().New(r.Distribution.Kind, r.Distribution.Params, struct{}{})
}

// above is what the RTT at that part of the range has above Min.
func (r RTT) above(part float64) time.Duration {
	return time.Duration(math.Round(float64(r.Max-r.Min) * part))
}

// sums are the statistics of the base RTTs between the hosts that are furthest
// apart, of the distribution and not of what a seed draws from it.
func (r RTT) sums() (aqm.RTTs, error) {
	if r.Max == r.Min {
		return aqm.OneRTT(r.Min), nil
	}
	at, err := r.shape()
	if err != nil {
		return aqm.RTTs{}, err
	}
	is := func(part float64) time.Duration { return r.Min + r.above(part) }
	return aqm.RTTs{Min: is(at(0)), Mean: is(at.Mean()), P50: is(at(0.5)), P90: is(at(0.9)), P99: is(at(0.99)), Max: r.Max}, nil
}

// linkDelays are the one-way delays of the links of hosts and of those between
// switches, so that a round trip between the hosts that are furthest apart takes
// the base RTT.
func (l *Lab) linkDelays(hops int) (access, trunk time.Duration) {
	switch {
	case l.Topology.LinkDelay > 0:
		return l.Topology.LinkDelay, l.Topology.LinkDelay
	case l.RTT.Base == baseHosts:
		return l.RTT.Min / 4, 0 // two links of hosts, there and back
	}
	each := l.RTT.Min / time.Duration(2*hops)
	return each, each
}
