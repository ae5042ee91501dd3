package truth

import (
	"fmt"
	"testing"
	"time"
)

// beside is the goodput of a long flow of a transport over that of one of CUBIC, through a
// queue of 100 Mbps that both share, in a minute. scheme is as a lab writes it, with what
// else the switch has.
func beside(t *testing.T, transport, scheme, scheduler string, rtt time.Duration) float64 {
	t.Helper()
	o := run(t, load(t, fmt.Sprintf(`name: beside
topology: {kind: star, hosts: 3, rate: 100Mbps}
rtt: %v
host: {transport: cubic}
switch: {buffer: {per_port: 10MB}, scheduler: %s}
schemes: [{name: it, aqm: %s}]
workload: {arrival: {kind: static, count: [2], stop: [60s]}, pattern: many-to-one, transfer: push}
transports: [{name: other, transport: %s, hosts: [h2]}]
`, rtt, scheduler, scheme, transport)))
	var got [4]int64 // by server
	for _, f := range o.Flows {
		got[f.Server] += f.Received
	}
	if sum := float64(got[1]+got[2]) * 8 / 60; sum < 80e6 {
		t.Errorf("%s beside CUBIC at %v: %.3g bit/s together", transport, rtt, sum)
	}
	return float64(got[1]) / float64(got[2])
}

// What the coupled queues have in RFC 9332, appendix A.1, and PI2 in its paper.
const (
	rfc9332 = "dualpi2, target: 15ms, tupdate: 16ms, alpha: 0.16, beta: 3.2, min_th: 800us, range: 400us"
	pi2     = "pi2, target: 20ms, tupdate: 32ms, alpha: 0.3125, beta: 3.125"
)

// TestScalableBesideClassic: coupling gives a scalable and a classic flow about the same
// rate. With p of CUBIC's packets dropped and 2 sqrt(p) of the others' marked, a scalable
// window is 2 / (2 sqrt(p)), or half as much again, since after a cut it takes half a round
// trip until the next mark. CUBIC's is 1.22 / sqrt(p) while it is as Reno (RFC 9438,
// section 4.3): a ratio of 0.8 to 1.2. That is so up to 30 ms here. At 100 ms and a queue of
// 20 ms CUBIC's window is 1.054 (RTT / p)^(3/4) (equation 5), and the fixed point is at 233
// and 767 segments, or 323 and 677: 0.30 to 0.48. With two queues the classic one's delay
// is CUBIC's alone. Bounds are a factor of two about these, and 0.5 to 2 about 1.
func TestScalableBesideClassic(t *testing.T) {
	for _, rtt := range []time.Duration{10 * ms, 30 * ms, 100 * ms} {
		least, most := 0.5, 2.0
		if rtt == 100*ms {
			least, most = 0.30/2, 0.48*2
		}
		between(t, fmt.Sprintf("Prague over CUBIC, dualpi2, %v", rtt), beside(t, "prague", rfc9332, "{kind: dualq, low: ect1}", rtt), least, most)
		between(t, fmt.Sprintf("Prague over CUBIC, pi2, %v", rtt), beside(t, "prague", pi2+", scalable: ect1", "fifo", rtt), least, most)
		between(t, fmt.Sprintf("DCTCP over CUBIC, pi2, %v", rtt), beside(t, "dctcp", pi2, "fifo", rtt), least, most)
	}
}
