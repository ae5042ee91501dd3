package testbed

import (
	"context"
	"maps"
	"slices"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/switch/fabric"
)

// timedConnection is a connection whose base RTT was measured. Times are lab time.
type timedConnection struct {
	sender, receiver int

	rtt  time.Duration
	want time.Duration // by the lab: what the links take and what is drawn
}

// How much is measured. A lab that draws RTTs has senders of different ones, or
// connections.
const (
	sendersOfOne   = 16
	sendersOfDrawn = 256
	drawnFlows     = 64 // connections in all, but one for each sender at least
	// drawnWait is the wall time that measuring the connections of drawn RTTs takes
	// at most, if the senders leave it at that.
	drawnWait = 15 * time.Second
)

// MeasureRTT measures the wall time of round trips between pairs of a sender and
// a receiver, on the network as it is.
func (t *Testbed) MeasureRTT(ctx context.Context, pairs [][2]int) ([]role.RTT, error) {
	return t.hosts.baseRTT(ctx, pairs)
}

// timeBase measures base RTTs on the idle lab, with the draws of a seed. Links have
// no jitter meanwhile, and lose nothing: that is not base.
func (t *Testbed) timeBase(ctx context.Context, seed uint64) ([]timedConnection, error) {
	spec, err := t.lab.Fabric(t.lab.Baseline, seed)
	if err != nil {
		return nil, err
	}
	calm, err := t.switchFabric(t.lab.Baseline, seed)
	if err != nil {
		return nil, err
	}
	for i := range calm.Links {
		calm.Links[i].Jitter, calm.Links[i].LossRate = 0, 0
	}
	pairs := basePairs(t.lab.RTT, len(spec.Hosts), t.dilation)
	var rtts []role.RTT
	_, err = t.withFabric(ctx, role.Fabric{Spec: calm, Dilation: t.dilation}, func(ctx context.Context) error {
		rtts, err = t.hosts.baseRTT(ctx, pairs)
		return err
	})
	if err != nil {
		return nil, err
	}
	all := make([]timedConnection, len(rtts))
	for i, r := range rtts {
		sender, receiver := spec.Hosts[pairs[i][0]], spec.Hosts[pairs[i][1]]
		want := 2*oneWay(spec.Links, sender.Name, receiver.Name) + sender.Delay(r.Src, r.Dst)
		all[i] = timedConnection{pairs[i][0], pairs[i][1], time.Duration(float64(r.Least) / t.dilation), want}
	}
	return all, nil
}

// oneWay is what the links between two hosts take, on a path with the fewest of
// them.
func oneWay(links []fabric.Link, from, to string) time.Duration {
	known := map[string]time.Duration{from: 0}
	for {
		next := map[string]time.Duration{}
		for _, l := range links {
			for _, way := range [][2]string{{l.A, l.B}, {l.B, l.A}} {
				at, ok := known[way[0]]
				if _, seen := known[way[1]]; !ok || seen {
					continue
				}
				if d, other := next[way[1]]; !other || at+l.Delay < d {
					next[way[1]] = at + l.Delay
				}
			}
		}
		maps.Copy(known, next)
		if d, ok := known[to]; ok || len(next) == 0 {
			return d
		}
	}
}

// basePairs lists whom to connect, as a sender and a receiver. The receiver is
// half of all hosts further on: labs number them rack by rack, so that the two
// are as far apart as any.
func basePairs(rtt labs.RTT, hosts int, dilation float64) [][2]int {
	senders, connections := min(hosts, sendersOfOne), 1
	if rtt.Max > rtt.Min {
		senders = min(hosts, sendersOfDrawn)
	}
	if rtt.PerFlow() {
		one := time.Duration(float64(rtt.Max) * dilation * role.RTTsToTime)
		all := min(drawnFlows, int(drawnWait/max(one, 1)))
		connections = max(1, all/senders)
	}
	var pairs [][2]int
	for i := range senders {
		sender := i * hosts / senders
		pairs = append(pairs, slices.Repeat([][2]int{{sender, (sender + hosts/2) % hosts}}, connections)...)
	}
	return pairs
}

// excess is what RTTs are longer than the lab wants them, the median of all.
func excess(all []timedConnection) time.Duration {
	var by []time.Duration
	for _, p := range all {
		by = append(by, p.rtt-p.want)
	}
	slices.Sort(by)
	return by[len(by)/2]
}

// bySender sums up what was measured with a seed.
func (t *Testbed) bySender(seed uint64, all []timedConnection) []results.BaseRTT {
	var sums []results.BaseRTT
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(p timedConnection) bool { return p.sender != all[0].sender })
		if n < 0 {
			n = len(all)
		}
		var measured, wanted []time.Duration
		for _, p := range all[:n] {
			measured, wanted = append(measured, p.rtt), append(wanted, p.want)
		}
		sums = append(sums, results.BaseRTT{
			Seed:        seed,
			Host:        t.net.Hosts[all[0].sender].Name,
			Connections: n,
			Measured:    results.SpanOf(measured),
			Lab:         results.SpanOf(wanted),
		})
		all = all[n:]
	}
	return sums
}

// baseRTTs measures the base RTTs of all seeds whose draws differ.
func (t *Testbed) baseRTTs(ctx context.Context) (rtt time.Duration, sums []results.BaseRTT, err error) {
	seeds := t.lab.Seeds
	if t.lab.RTT.Max == t.lab.RTT.Min {
		seeds = seeds[:1]
	}
	var all []timedConnection
	for _, seed := range seeds {
		found, err := t.timeBase(ctx, seed)
		if err != nil {
			return 0, nil, err
		}
		all, sums = append(all, found...), append(sums, t.bySender(seed, found)...)
	}
	return t.lab.RTT.Min + excess(all), sums, nil
}
