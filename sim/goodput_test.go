package sim

import (
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/sim/rdma"
	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

// delivered adds up samples by service.
func delivered(samples []results.ServiceSample) map[int32]int64 {
	sum := make(map[int32]int64)
	for _, s := range samples {
		sum[s.Service] += s.Bytes
	}
	return sum
}

// TestGoodputOfServices: what services deliver are the payloads of their flows,
// whatever queues these take, and whichever of their bytes PIAS gives what
// priority.
func TestGoodputOfServices(t *testing.T) {
	params, err := transport.Table().New("dcqcn", nil, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"one queue": func(*Config) {},
		"PIAS":      func(c *Config) { c.Tagging.Thresholds, c.Fabric.Port.Queues = []units.Size{100_000}, 5 },
		"losses":    func(c *Config) { c.Fabric.Port.Buffer = 15 * units.KB },
		"RDMA": func(c *Config) {
			c.TCP, c.RDMA = nil, &rdma.Config{DCQCN: params.DCQCN, MTU: 1500, RTO: 10 * ms}
			for i := range c.Fabric.Hosts {
				c.RDMA.Uplinks = append(c.RDMA.Uplinks, c.Fabric.Uplink(i))
			}
		},
	} {
		c := star(9)
		c.Flows, c.Goodput = websearch(t, 9, 60), ms
		change(&c)
		_, o := simulate(t, c)
		completed(t, o)
		want, got := make(map[int32]int64), delivered(o.Services)
		for _, f := range o.Flows {
			want[f.Service] += f.Bytes
		}
		for service, bytes := range want {
			if len(want) != 4 || len(got) != 4 || got[service] != bytes {
				t.Errorf("%s: the services' flows have %v bytes, and %v came", name, want, got)
			}
		}
	}
}

// TestGoodputOverTime: a flow that has a link to itself delivers the link's
// payload rate in every interval that it fills, which is the time of its
// packets' arrival, not of its end.
func TestGoodputOverTime(t *testing.T) {
	c := star(2)
	c.Flows, c.Goodput = pushed(flow(0, 0, 1, 20_000*mss)), 10*ms
	_, o := simulate(t, c)
	completed(t, o)
	full := int64(10*ms/onWire(mss)) * mss
	filled := 0
	for _, s := range o.Services[1 : len(o.Services)-1] {
		if s.Over != 10*ms || s.At%(10*ms) != 0 || s.Bytes < full-2*mss || s.Bytes > full+2*mss {
			t.Fatalf("%+v, want %d bytes", s, full)
		}
		filled++
	}
	if end := o.Services[len(o.Services)-1].At; filled < 10 || end < o.Flows[0].FCT || end-10*ms > o.Flows[0].FCT {
		t.Errorf("%d intervals, the last one ends at %v; the flow did at %v", filled, end, o.Flows[0].FCT.Round(time.Microsecond))
	}
}
