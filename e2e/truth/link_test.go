package truth

import (
	"fmt"
	"testing"
	"time"

	"aqmlab/units"
)

// TestGoodput: one flow gets of a link what is payload: 1448 of the 1538 bytes
// that a full segment takes on the wire. Its own link is the bottleneck, so the
// switch, which marks from 100 packets on, has nothing to mark.
func TestGoodput(t *testing.T) {
	for rate, span := range map[units.Rate]time.Duration{ // 12,000 packets and more
		units.Gbps: 150 * ms, 10 * units.Gbps: 15 * ms, 100 * units.Gbps: 15 * ms,
	} {
		c := load(t, star{1, rate, 100 * us, "dctcp", "dctcp-red, threshold: 150KB", 10*ms + span}.lab())
		m := measure(t, &c, 0, 10*ms, 10*ms+span)
		run(t, c)
		near(t, rate.String(), m.goodput(), float64(rate)*payload/frame, 0.001)
	}
}

// TestShortFlows: what a flow within the initial window takes follows from links
// and frames alone. Its segments are sent at once and leave the uplink one after
// the other; each takes a delay to the switch, and is sent on when it has come as
// a whole. No segment is larger than the first, so the switch's link is never
// idle in between, and the last one comes when that has sent them all, after the
// first one's time on the uplink and two delays.
//
// A request (104 bytes) crosses both links the same way, and so do a SYN and what
// answers it (none); 24 bytes precede a response. The ACK that ends the handshake rides on the request, or on
// the data when it is the server that opens the connection.
//
// Frames start in whole nanoseconds, so each link may gain a nanosecond.
func TestShortFlows(t *testing.T) {
	const delay = 25 * us
	for _, rate := range []units.Rate{units.Gbps, 10 * units.Gbps, 40 * units.Gbps, 100 * units.Gbps} {
		alone := func(bytes int) float64 { return crossing(rate, delay, bytes) }
		for _, bytes := range []int{1, 1000, 1448, 1449, 9*1448 + 7, 10*1448 - 24} {
			shake, asked := 2*alone(0), alone(104)+alone(24+bytes)
			for _, tt := range []struct {
				workload string
				want     float64
				links    float64
			}{
				{"transfer: push, connections: 1", alone(bytes), 2},
				{"transfer: pull, connections: 1", asked, 4},
				{"transfer: push, connections: 0", shake + alone(bytes), 6},
				{"transfer: pull, connections: 0", shake + asked, 8},
			} {
				c := load(t, fmt.Sprintf(`name: short
topology: {kind: star, hosts: 2, rate: %v, link_delay: %v}
host: {init_cwnd: 10}
schemes: [{name: it, aqm: droptail}]
workload: {arrival: {kind: static, count: [1]}, sizes: {kind: fixed, size: %dB}, %s}
`, rate, units.FormatTime(delay), bytes, tt.workload))
				got := float64(run(t, c).Flows[0].FCT)
				if off := tt.want - got; off < -1e-3 || off >= tt.links {
					t.Errorf("%v, %d bytes, %s: %.1f ns, want %.1f", rate, bytes, tt.workload, got, tt.want)
				}
			}
		}
	}
}

// crossing is how many nanoseconds a message, sent at once, takes over two links
// of a delay.
func crossing(rate units.Rate, delay time.Duration, bytes int) float64 {
	const headers = frame - payload
	first := headers + min(bytes, payload)
	frames := max(1, (bytes+payload-1)/payload)
	return float64(first+bytes+frames*headers)*8e9/float64(rate) + 2*float64(delay)
}
