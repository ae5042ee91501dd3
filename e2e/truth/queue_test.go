package truth

import (
	"fmt"
	"testing"
	"time"

	"aqmlab/units"
)

// TestSlowStartPeak is figure 3 of TCN (CoNEXT 2016, section 4.3): eight flows
// start together, 10 Gbps, 100 us, thresholds of one bandwidth-delay product. In
// the round trip in which the queue passes the threshold the windows have reached
// two of them, and another comes before the first mark is heard of: with marks on
// arrival, and with TCN, which marks by what a departing packet has met, the queue
// peaks at three. Marks for the queue that a departing packet leaves behind are
// heard of a threshold's time earlier, and it peaks at two.
func TestSlowStartPeak(t *testing.T) {
	for scheme, want := range map[string]float64{
		"dctcp-red, threshold: 125KB":              3,
		"tcn, threshold: 100us":                    3,
		"dctcp-red, threshold: 125KB, at: dequeue": 2,
	} {
		c := load(t, star{8, 10 * units.Gbps, 100 * us, "ecn-star", scheme, 30 * ms}.lab())
		m := measure(t, &c, 0, 0, 30*ms)
		run(t, c)
		near(t, scheme+": peak in bandwidth-delay products", float64(m.quantile(1))*frame/125_000, want, 0.05)
	}
}

// TestShares is figure 20a of ECN# (IEEE TCC 2022, section 5.4.3): three long flows
// in queues with the weights 2, 1 and 1 under DWRR. They start one after another
// and get 9.6 Gbps; 6.42 and 3.18; 4.82 and the rest: their weights' shares.
func TestShares(t *testing.T) {
	for i, want := range [][]float64{{1}, {2. / 3, 1. / 3}, {1. / 2, 1. / 4, 1. / 4}} {
		c := load(t, `name: shares
topology: {kind: star, hosts: 4, rate: 10Gbps}
rtt: 100us
host: {transport: dctcp, stack: plain}
switch: {scheduler: {kind: dwrr, queues: 3, weights: [2, 1, 1]}}
schemes: [{name: it, aqm: ecn-sharp, ins_target: 200us, pst_target: 85us, pst_interval: 200us}]
workload:
  arrival: {kind: static, count: [1, 1, 1], servers: [2, 3, 4], services: [0, 1, 2], start: [0s, 50ms, 100ms], stop: [150ms]}
  pattern: many-to-one
  services: 3
  transfer: push
  connections: 1
`)
		from := time.Duration(i)*50*ms + 20*ms
		m := measure(t, &c, 0, from, from+30*ms)
		run(t, c)
		if len(m.payload) != len(want) {
			t.Errorf("%d flows sent, want %d", len(m.payload), len(want))
		}
		for flow, share := range want {
			near(t, fmt.Sprintf("flow %d of %d", flow+1, len(want)), m.goodputs()[int32(flow+1)], share*10e9*payload/frame, 0.01)
		}
	}
}
