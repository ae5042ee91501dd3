package live

import (
	"strings"
	"testing"
	"time"

	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// TestTransports: each host listens for every transport, and a flow takes a connection of
// its own one. A connection that is not as it should be ends the opening.
func TestTransports(t *testing.T) {
	network := newLoopback()
	network.speaks = 2
	serve(t, network, 1)
	flows := []traffic.Flow{flow(0, 1, 1000), flow(1, 1, 2000), flow(2, 1, 3000)}
	flows[1].Transport, flows[1].Service = 1, 4
	reno := Expected{Congestion: "reno"}
	c := open(t, network, Config{Flows: flows, Connections: 1, CongestionControl: "reno", Expect: []Expected{reno, {}}})
	if len(c.pool.list[ends{server: 1}]) != 1 || len(c.pool.list[ends{server: 1, transport: 1}]) != 1 {
		t.Errorf("connections %+v", c.pool.list)
	}
	records, err := c.Run(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if !r.Completed() {
			t.Errorf("%+v", r)
		}
	}
	for want, expect := range map[string][]Expected{
		"has congestion control reno: want cubic":           {reno, {Congestion: "cubic"}},
		"the two ends have agreed on ECN: false, want true": {reno, {ECN: true}},
		"flow 1: transport 1 is outside 0 to 0":             {reno},
	} {
		_, err := Open(t.Context(), network, Config{Flows: flows, Connections: 1, Dilation: 1, CongestionControl: "reno", Expect: expect})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", expect, err, want)
		}
	}
}

// TestRequestOfOwnDSCP: a flow whose transport has a DSCP asks for that, and for no
// priorities.
func TestRequestOfOwnDSCP(t *testing.T) {
	r := run{Client: &Client{cfg: Config{Dilation: 1, Tagging: traffic.Tagging{Own: map[int]uint8{1: 9}, Thresholds: []units.Size{1000}}}}}
	f := flow(0, 1, 5000)
	f.Service = 2
	if q := r.request(f); q.dscp(0) != 0 || q.dscp(2000) != 3 {
		t.Errorf("DSCPs %d and %d, want a priority and that of service 2", q.dscp(0), q.dscp(2000))
	}
	f.Transport = 1
	if q := r.request(f); q.dscp(0) != 9 || q.dscp(2000) != 9 {
		t.Errorf("DSCPs %d and %d, want the transport's own, 9", q.dscp(0), q.dscp(2000))
	}
}
