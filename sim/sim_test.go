package sim

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/sim/rdma"
	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/traffic"
	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

// TestFlowTimes: a flow within the initial window takes the transmission of its
// segments, and the delays; one that is asked for, and one that opens its
// connection, take the way of what precedes besides.
func TestFlowTimes(t *testing.T) {
	const way = 20 * us // the delays of two links
	single := func(payload int) time.Duration { return 2*onWire(payload) + way }
	// The short last segment waits behind the second full one at the switch.
	response := func(last int) time.Duration { return 3*onWire(mss) + onWire(last) + way }
	tests := map[string]struct {
		change func(*Config)
		want   time.Duration
	}{
		"pushed": {func(*Config) {}, response(100)},
		// The request has 104 bytes, the response a header of 24.
		"asked for":                  {func(c *Config) { c.Flows[0].Push = false }, single(104) + response(124)},
		"fresh, without a handshake": {func(c *Config) { c.Connections = 0 }, response(100)},
		// SYN there, SYN-ACK back.
		"fresh": {func(c *Config) { c.Connections, c.Handshake = 0, true }, 2*single(0) + response(100)},
	}
	for name, tt := range tests {
		c := star(2)
		c.Flows = pushed(flow(0, 5*us, 1, 2*mss+100))
		tt.change(&c)
		s, o := simulate(t, c)
		completed(t, o)
		if got := o.Flows[0].FCT; got < tt.want-3 || got > tt.want+3 { // parts of nanoseconds
			t.Errorf("%s: took %v, want %v", name, got, tt.want)
		}
		if n := drain(s); n != 0 {
			t.Errorf("%s: %d packets are not accounted for", name, n)
		}
	}
}

// TestSameConfigSameOutcome: a simulation depends on its configuration alone.
func TestSameConfigSameOutcome(t *testing.T) {
	c := star(9)
	c.Fabric.Port.Buffer = 60 * units.KB
	c.Fabric.Port.Scheme = kind.Choice{Kind: "red", Params: map[string]any{"min": "10KB", "max": "40KB", "pmax": 0.3}}
	c.Fabric.Port.Seed = 3
	c.Flows = websearch(t, 9, 300)
	c.Sample = ms
	_, one := simulate(t, c)
	_, two := simulate(t, c)
	completed(t, one)
	if !reflect.DeepEqual(one, two) {
		t.Error("two runs of one configuration differ")
	}
	if len(one.Queues) == 0 || sum(one, func(c port.Count) int64 { return c.Marked }) == 0 {
		t.Error("nothing was sampled or marked")
	}
	c.Fabric.Port.Seed = 4
	if _, other := simulate(t, c); reflect.DeepEqual(one.Flows, other.Flows) {
		t.Error("another seed of RED makes no difference")
	}
}

// websearch draws flows from all hosts to the first.
func websearch(t testing.TB, hosts, n int) []traffic.Flow {
	t.Helper()
	flows, err := trafficgen.Trace(trafficgen.Spec{
		Hosts: hosts, Rate: units.Gbps, Load: 0.8, Flows: n, Pattern: "many-to-one", Services: []int{1, 1, 1, 1},
		Sizes: kind.Choice{Kind: "websearch"}, Arrival: kind.Choice{Kind: "poisson"}, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return flows
}

// TestConnectionsAreUsedAgain: connections that flows open for themselves are
// closed after them, and persistent ones carry one flow after another, so that
// what a simulation holds does not grow with the flows that are over.
func TestConnectionsAreUsedAgain(t *testing.T) {
	for _, connections := range []int{0, 2} {
		c := star(3)
		c.Connections, c.Handshake = connections, true
		for i := range 5000 {
			c.Flows = append(c.Flows, flow(i, time.Duration(i+1)*ms, 1+i%2, 20_000))
		}
		s, o := simulate(t, c)
		completed(t, o)
		if n := len(s.sessions.slots); n > 4 {
			t.Errorf("%d connections ahead: %d were open at once for flows one after another", connections, n)
		}
		if n := drain(s); n != 0 {
			t.Errorf("%d connections ahead: %d packets are not accounted for", connections, n)
		}
	}
}

// TestStragglersOfClosedConnections: with losses and fresh connections, what
// still travels when a connection closes harms no later one.
func TestStragglersOfClosedConnections(t *testing.T) {
	c := star(9)
	c.Fabric.Port.Buffer = 15 * units.KB
	c.Connections, c.Handshake = 0, true
	c.TCP.RTOInit = 10 * ms
	c.Flows = websearch(t, 9, 400)
	s, o := simulate(t, c)
	completed(t, o)
	if drops := sum(o, func(c port.Count) int64 { return c.DropsFull }); drops == 0 {
		t.Error("nothing was lost")
	}
	if n := drain(s); n != 0 {
		t.Errorf("%d packets are not accounted for", n)
	}
}

// TestApplications: an application with a rate offers no more, and one that
// stops ends its flow when what it sent has come.
func TestApplications(t *testing.T) {
	c := star(3)
	c.TCP.SmallQueue = ms
	limited := flow(0, 1, 1, traffic.MaxBytes)
	limited.Rate, limited.Stop = 200*units.Mbps, 100*ms
	greedy := flow(1, 1, 2, traffic.MaxBytes)
	greedy.Stop = 50 * ms
	finite := flow(2, 1, 2, 1_000_000)
	finite.Rate = 400 * units.Mbps
	c.Flows = pushed(limited, greedy, finite)
	s, o := simulate(t, c)
	completed(t, o)
	// 200 Mbps for 100 ms are 2.5 MB, in segments.
	if got := o.Flows[0].Received; got < 2_500_000-2*mss || got > 2_500_000+2*mss {
		t.Errorf("%d bytes at 200 Mbps in 100 ms, want 2.5 MB", got)
	}
	// Of 1 Gbps, at most what the others leave.
	if got := o.Flows[1].Received; got < 1_500_000 || got > 50*125_000 {
		t.Errorf("a greedy application sent %d bytes in 50 ms", got)
	}
	// What it sent last waits for the buffer, 8 ms, and once more when it is lost.
	if got := o.Flows[1].FCT; got < 50*ms || got > 67*ms {
		t.Errorf("a flow that stops after 50 ms took %v", got)
	}
	if f := o.Flows[2]; f.Received != 1_000_000 || f.FCT < 19*ms {
		t.Errorf("1 MB at 400 Mbps: %d bytes in %v", f.Received, f.FCT)
	}
	if n := drain(s); n != 0 {
		t.Errorf("%d packets are not accounted for", n)
	}
}

// TestTagging: with PIAS, the first bytes of a flow pass the queue of the first
// priority, on a used connection too.
func TestTagging(t *testing.T) {
	c := star(2)
	c.Tagging = traffic.Tagging{Thresholds: []units.Size{100 * mss}}
	big, small := flow(0, 1, 1, 300*mss), flow(1, time.Second, 1, 50*mss)
	big.Service, small.Service = 2, 1
	c.Flows = pushed(big, small)
	_, o := simulate(t, c)
	completed(t, o)
	q := toHost(o, "h1")
	if q[0].Sent != 150 || q[3].Sent != 200 || q[1].Sent+q[2].Sent != 0 {
		t.Errorf("queues sent %d, %d, %d, %d segments, want 100 + 50 in the first and 200 in that of service 2", q[0].Sent, q[1].Sent, q[2].Sent, q[3].Sent)
	}
}

// TestMessages: with a gap, a flow on a connection goes on with the count of the flow
// before unless its server was silent for longer than that (TCN, footnote 5).
func TestMessages(t *testing.T) {
	c := star(2)
	c.Connections = 1
	c.Tagging = traffic.Tagging{Thresholds: []units.Size{100 * mss}, Gap: 100 * ms}
	c.Flows = pushed(flow(0, 1, 1, 60*mss), flow(1, 50*ms, 1, 60*mss), flow(2, 149*ms, 1, 60*mss), flow(3, 250*ms, 1, 60*mss))
	_, o := simulate(t, c)
	completed(t, o)
	// 60, 40 of 60, none of 60, and 60 again.
	if q := toHost(o, "h1"); q[0].Sent != 160 || q[1].Sent != 80 {
		t.Errorf("queues sent %d and %d segments, want 160 below the threshold and 80 above", q[0].Sent, q[1].Sent)
	}
}

// A message goes on, however long ago the server wrote, while the send buffer holds what
// is not acknowledged (TCN, footnote 5).
func TestMessageEndsWithAnEmptySendBuffer(t *testing.T) {
	run := func(flows ...traffic.Flow) (done time.Duration) {
		c := star(2)
		c.Connections = 1
		c.Tagging = traffic.Tagging{Thresholds: []units.Size{100 * mss}, Gap: 1}
		c.Flows = pushed(flows...)
		_, o := simulate(t, c)
		completed(t, o)
		if len(flows) > 1 {
			if q := toHost(o, "h1"); q[0].Sent != 100 || q[1].Sent != 20 {
				t.Errorf("queues sent %d and %d segments, want 100 and 20", q[0].Sent, q[1].Sent)
			}
		}
		return o.Flows[0].Sent + o.Flows[0].FCT
	}
	first := flow(0, 1, 1, 60*mss)
	done := run(first) // its last ACK is on its way when the next flow begins
	run(first, flow(1, done+1, 1, 60*mss))
}

// TestStall: flows that cannot end are given up, and say so.
func TestStall(t *testing.T) {
	c := star(2)
	c.Fabric.Port.Buffer = 1000 // no full segment fits
	c.Flows = pushed(flow(0, 1, 1, 500), flow(1, 2, 1, 5000))
	s, o := simulate(t, c)
	if !o.Flows[0].Completed() || o.Flows[1].Completed() || o.Flows[1].Error == "" || s.Progress().Now < c.Stall {
		t.Errorf("after %v: %+v", s.Progress().Now, o.Flows)
	}
}

func TestCancel(t *testing.T) {
	c := star(2)
	c.Flows = pushed(flow(0, 1, 1, 1e9))
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	if err := s.Run(ctx, func(Progress) { cancel(enough) }); !errors.Is(err, enough) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestRDMA: an incast over lossless links loses nothing and completes.
func TestRDMA(t *testing.T) {
	c := star(9)
	c.Fabric.Port.Scheme = kind.Choice{Kind: "dctcp-red", Params: map[string]any{"threshold": "30KB"}}
	c.Fabric.Pause = fabric.Pause{XOff: 60 * units.KB, XOn: 50 * units.KB}
	c.TCP, c.RDMA = nil, &rdma.Config{DCQCN: transport.DefaultDCQCN(), MTU: 1500, RTO: 10 * ms}
	for i := range 9 {
		c.RDMA.Uplinks = append(c.RDMA.Uplinks, units.Gbps)
		if i > 0 {
			c.Flows = append(c.Flows, flow(i-1, 1, i, 2_000_000))
		}
	}
	_, o := simulate(t, c)
	completed(t, o)
	if n := sum(o, func(c port.Count) int64 { return c.DropsFull + c.DropsScheme }); n != 0 {
		t.Errorf("%d packets were lost", n)
	}
	if n := sum(o, func(c port.Count) int64 { return c.Marked }); n == 0 {
		t.Error("nothing was marked")
	}
}

func TestBadConfigs(t *testing.T) {
	tests := map[string]func(*Config){
		"fabric": func(c *Config) { c.Fabric.Links = nil },
		"MSS":    func(c *Config) { c.TCP.MSS = 0 },
		"scheme": func(c *Config) { c.Fabric.Port.Scheme.Kind = "blue" },
	}
	for want, spoil := range tests {
		c := star(2)
		spoil(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
