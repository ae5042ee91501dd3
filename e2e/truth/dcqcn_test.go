package truth

import (
	"fmt"
	"math"
	"testing"
)

// dcqcnMarks is the share of packets that is marked in the fixed point of n DCQCN
// flows, at 40 Gbps and with the parameters of the DCQCN paper, which this model
// of it has, too (Zhu et al., ECN or Delay, CoNEXT 2016, section 3.1). With a rate
// of R = C/n packets a second, a = 1 - (1 - p)^(tau R) is the probability of a
// notification in tau, and alpha settles where a is for its own timer. Between
// cuts the target rises above the rate by so much, tau R_AI R (d + e) / a, that
// the rate makes up for the cuts when it is moved halfway there by timer and byte
// counter, at the rates R c and R b, which makes
//
//	alpha a^2 = tau^2 R_AI R (b + c) (d + e)
//	b = p / ((1 - p)^-B - 1),  c = p / ((1 - p)^-(T R) - 1)
//	d = (1 - p)^(F B) b,       e = (1 - p)^(F T R) c
func dcqcnMarks(n float64) float64 {
	const (
		packets = 40e9 / 8 / frame // a second, C
		rai     = 40e6 / 8 / frame
		tau     = 50e-6 // between notifications
		timer   = 55e-6 // of the increase, and of alpha
		bytes   = 10e6 / 1500
		f       = 5
	)
	r := packets / n
	excess := func(p float64) float64 {
		keep := func(k float64) float64 { return math.Pow(1-p, k) }
		a, alpha := 1-keep(tau*r), 1-keep(timer*r)
		b, c := p/(keep(-bytes)-1), p/(keep(-timer*r)-1)
		return alpha*a*a - tau*tau*rai*r*(b+c)*(keep(f*bytes)*b+keep(f*timer*r)*c)
	}
	low, high := 1e-6, 0.1
	for range 60 {
		if p := math.Sqrt(low * high); excess(p) > 0 {
			high = p
		} else {
			low = p
		}
	}
	return low
}

// TestDCQCN: flows that start at line rate, one of them 5 ms before the others,
// come to fair shares of 40 Gbps. Flow control keeps the burst at the start from
// being dropped, and has nothing to do later. RED between 5 and 200 KB spaces its
// marks 1 to 1/p packets apart, so that they are twice as many as p says; the queue
// is as long as the marks of the fixed point need.
func TestDCQCN(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			c := load(t, fmt.Sprintf(`name: dcqcn
topology: {kind: star, hosts: %d, rate: 40Gbps}
rtt: 20us
host: {transport: dcqcn}
switch: {buffer: {per_port: 10MB}, lengths: ip, pause: {xoff: 100KB}}
schemes: [{name: it, aqm: red, min: 5KB, max: 200KB, pmax: 0.01, weight: 1, ecn: true}]
workload: {arrival: {kind: static, count: [1, %d], start: [0s, 5ms], stop: [200ms]}, pattern: many-to-one, transfer: push, connections: 1}
`, n+1, n-1))
			m := measure(t, &c, 0, 100*ms, 200*ms)
			o := run(t, c)
			for host, rate := range m.goodputs() {
				near(t, fmt.Sprintf("share of host %d", host), rate, m.goodput()/float64(n), 0.1)
			}
			between(t, "share of the link", m.goodput()/40e9*frame/1456, 0.99, 1)
			near(t, "mean queue in bytes", m.mean()*1500, 5e3+195e3*dcqcnMarks(float64(n))/2/0.01, 0.05)
			stops, drops := int64(0), int64(0)
			for _, p := range o.Ports {
				stops += p.Pauses.Stops
				drops += p.Queues[0].DropsFull
			}
			if stops == 0 || drops > 0 {
				t.Errorf("flow control stopped %d times, %d packets were dropped", stops, drops)
			}
		})
	}
}
