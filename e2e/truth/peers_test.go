package truth

import (
	"slices"
	"testing"
	"time"

	"aqmlab/results"
)

// common is what the runs of other simulators that are compared with have in
// common.
const common = `
host: {transport: dctcp, init_cwnd: 16, rto_min: 5ms, delayed_ack: 1, port: switch, stack: plain}
switch: {buffer: {per_port: 1MB}}
schemes: [{name: dctcp-red, aqm: dctcp-red, threshold: 97500B}]
`

// TestStarBesideNS3: eight long DCTCP flows to one host, 10 Gbps, 100 us, marked
// above 65 packets. ns-3.37 has 9.637 Gbps of goodput, a mean queue of 55.7
// packets, 74 at the 99th percentile, and no drops; csg-htsim has a mean of 48.6,
// 70, and a largest queue of 73.
//
// Goodputs are compared as shares of what fits the link: ns-3's point-to-point
// links add 2 bytes to a packet of 1500, ours 38 as Ethernet does. Between the
// two simulators the mean queue differs by 13 %; a tenth off ns-3 is asked for,
// and the sawtooth of the DCTCP paper as the upper bound: it has all windows cut
// together, and the mean below K + N by half of the amplitude.
func TestStarBesideNS3(t *testing.T) {
	c := load(t, `name: star
topology: {kind: star, hosts: 9, rate: 10Gbps}
rtt: 100us
workload: {arrival: {kind: static, count: [8], stop: [300ms]}, pattern: many-to-one, transfer: push, connections: 0}
`+common)
	m := measure(t, &c, 0, 50*ms, 300*ms)
	o := run(t, c)
	near(t, "share of the link", m.goodput()/10e9*frame/payload, 9.637/10*1502/payload, 0.001)
	near(t, "mean queue", m.mean(), 55.7, 0.1)
	saw := newSawtooth(8, 10e9*100e-6/8/frame, 65)
	between(t, "mean queue", m.mean(), 48.6, saw.most-saw.amplitude/2)
	near(t, "99th percentile of the queue", float64(m.quantile(0.99)), 74, 0.03)
	if q := o.Ports[0].Queues[0]; q.DropsFull != 0 {
		t.Errorf("%d drops", q.DropsFull)
	}
	var squares float64
	for _, rate := range m.goodputs() {
		squares += rate * rate
	}
	between(t, "Jain's index", m.goodput()*m.goodput()/8/squares, 0.995, 1)
}

// TestLeafSpineBesideNS3: 200 web search flows at half load between 144 hosts.
// ns-3.37 was given the same flows; its FCTs are 1872 us on average and 402 us in
// the median, 276 us on average and 759 us at the 99th percentile for flows of up
// to 100 KB, and 21.1 ms for the three above 10 MB. Hosts mark at their own ports,
// as ns-3's do.
//
// Which flows share a path is up to the hash, so the medians over three hashes are
// compared. They are met within 15 %, of which the frames' 38 bytes in place of 2
// are 2.4 %. The 99th percentile of 110 flows is the second longest, and is met
// within a quarter.
func TestLeafSpineBesideNS3(t *testing.T) {
	c := load(t, `name: leafspine
topology: {kind: leaf-spine, leaves: 12, spines: 12, hosts_per_leaf: 12, rate: 10Gbps, link_delay: 12500ns}
workload: {arrival: {kind: trace, name: leafspine-144}, pattern: all-to-all, transfer: push, connections: 0}
`+common)
	var all, median, small, tail, large []float64
	for seed := range uint64(3) {
		c.Fabric.Seed = seed
		o := run(t, c)
		every := times(o.Flows, 0, 1e12)
		short := times(o.Flows, 0, 100_000)
		all, median = append(all, mean(every)), append(median, at(every, 0.5))
		small, tail = append(small, mean(short)), append(tail, at(short, 0.99))
		large = append(large, mean(times(o.Flows, 10_000_000, 1e12)))
	}
	near(t, "mean", at(all, 0.5), 1872, 0.15)
	near(t, "median", at(median, 0.5), 402, 0.15)
	near(t, "mean of small flows", at(small, 0.5), 276, 0.15)
	near(t, "99th percentile of small flows", at(tail, 0.5), 759, 0.25)
	near(t, "mean of large flows", at(large, 0.5), 21_100, 0.15)
}

// times are the FCTs, in us, of flows above and up to some sizes.
func times(flows []results.Flow, above, upTo int64) (fcts []float64) {
	for _, f := range flows {
		if f.Bytes > above && f.Bytes <= upTo {
			fcts = append(fcts, float64(f.FCT)/float64(time.Microsecond))
		}
	}
	return fcts
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// at is the value below which that share of the values lies.
func at(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(share*float64(len(sorted)))]
}
