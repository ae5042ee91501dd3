package sim

import (
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// speaking is the hosts of a configuration with another congestion control.
func speaking(c Config, control string) Speech {
	own := *c.TCP
	own.Control = kind.Choice{Kind: control}
	return Speech{TCP: &own}
}

// of gives flows a transport.
func of(transport int, f traffic.Flow) traffic.Flow {
	f.Transport = transport
	return f
}

// seen is what was seen of the packets with payload of one sender.
type seen struct {
	codepoints map[packet.ECN]int
	dscps      map[uint8]int
	hashes     map[uint32]int
}

// watchSenders looks at what leaves the switch towards host 0.
func watchSenders(s *Simulation) map[int32]*seen {
	all := make(map[int32]*seen)
	for _, p := range s.network.Ports() {
		if p.Far != "h1" {
			continue
		}
		p.Watch(func(_ time.Duration, _ int, k *packet.Packet, f port.Fate) {
			if k.Segment.Len == 0 {
				return
			}
			if all[k.Src] == nil {
				all[k.Src] = &seen{map[packet.ECN]int{}, map[uint8]int{}, map[uint32]int{}}
			}
			all[k.Src].codepoints[k.ECN]++
			all[k.Src].dscps[k.DSCP]++
			all[k.Src].hashes[k.Hash]++
		})
	}
	return all
}

// run runs a configuration and says what its senders sent.
func run(t *testing.T, c Config) (map[int32]*seen, Outcome) {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	all := watchSenders(s)
	if err := s.Run(t.Context(), func(Progress) {}); err != nil {
		t.Fatal(err)
	}
	o := s.Outcome()
	completed(t, o)
	if left := drain(s); left != 0 {
		t.Errorf("%d packets are not accounted for", left)
	}
	return all, o
}

// TestTransportsShareALink: of two flows through one queue that marks, the packets of the
// one that speaks DCTCP are ECN-capable, all of them (RFC 8257, section 3.6), and those of
// CUBIC are not. Both fill the link together.
func TestTransportsShareALink(t *testing.T) {
	c := star(3)
	c.Fabric.Port.Queues, c.Fabric.Port.Scheduler = 1, kind.Choice{Kind: "fifo"}
	c.Fabric.Port.Scheme = kind.Choice{Kind: "dctcp-red", Params: map[string]any{"threshold": "30KB"}}
	c.Others = []Speech{speaking(c, "cubic")}
	c.Flows = pushed(flow(0, 0, 1, 5_000_000), of(1, flow(1, 0, 2, 5_000_000)))
	senders, o := run(t, c)
	if got := senders[1].codepoints; got[packet.NotECT] > 0 || got[packet.CE] == 0 || got[packet.ECT0] == 0 {
		t.Errorf("DCTCP's packets have codepoints %v", got)
	}
	if got := senders[2].codepoints; len(got) != 1 || got[packet.NotECT] == 0 {
		t.Errorf("CUBIC's packets have codepoints %v", got)
	}
	if o.Flows[0].Transport != 0 || o.Flows[1].Transport != 1 {
		t.Errorf("the records say %+v", o.Flows)
	}
	if o.Hosts[1].ECEReceived == 0 || o.Hosts[2].ECEReceived > 0 || o.Hosts[0].CEReceived == 0 {
		t.Errorf("the hosts counted %+v", o.Hosts)
	}
}

// TestConnectionsOfATransport: flows of two transports between the same hosts do not share
// a connection, though the first one's is idle. The switch sees two flows.
func TestConnectionsOfATransport(t *testing.T) {
	c := star(2)
	c.Others = []Speech{speaking(c, "cubic")}
	c.Flows = pushed(flow(0, 0, 1, 10_000), of(1, flow(1, 50*ms, 1, 10_000)), flow(2, 100*ms, 1, 10_000))
	senders, _ := run(t, c)
	if got := senders[1]; len(got.hashes) != 2 || got.codepoints[packet.NotECT] != 7 || got.codepoints[packet.ECT0] != 14 {
		t.Errorf("%+v, want two connections, and 7 of 21 packets of CUBIC", got)
	}
}

// TestOwnDSCP: all packets of a transport have its DSCP, and the others that of their
// service.
func TestOwnDSCP(t *testing.T) {
	c := star(3)
	c.Others = []Speech{speaking(c, "cubic")}
	c.Tagging.Own = map[int]uint8{1: 3}
	c.Tagging.Thresholds = []units.Size{5000}
	first, second := flow(0, 0, 1, 20_000), of(1, flow(1, 0, 2, 20_000))
	first.Service = 1
	c.Flows = pushed(first, second)
	senders, _ := run(t, c)
	if got := senders[1].dscps; len(got) != 2 || got[0] < 4 || got[2] < 10 {
		t.Errorf("DSCPs of service 1 behind one threshold %v, want 0 for the first 5000 bytes and then 2", got)
	}
	if got := senders[2].dscps; len(got) != 1 || got[3] == 0 {
		t.Errorf("DSCPs of a transport with one of its own %v, want 3", got)
	}
}

// TestCodepoints: a transport sends the codepoint that it is told, in place of its own.
// One that does not negotiate ECN sends it on what has payload.
func TestCodepoints(t *testing.T) {
	for _, x := range []struct {
		control string
		ecn     packet.ECN
		all     bool
	}{{"dctcp", packet.ECT1, false}, {"dctcp", packet.NotECT, false}, {"cubic", packet.ECT1, true}} {
		c := star(2)
		other := speaking(c, x.control)
		other.Codepoint = packet.Codepoint{Set: true, ECN: x.ecn, All: x.all}
		c.Others = []Speech{other}
		c.Flows = pushed(of(1, flow(0, 0, 1, 100_000)))
		senders, _ := run(t, c)
		if got := senders[1].codepoints; len(got) != 1 || got[x.ecn] == 0 {
			t.Errorf("%s with codepoint %v: %v", x.control, x.ecn, got)
		}
	}
}

// TestRDMABesideTCP: DCQCN and CUBIC share lossless links, and both complete.
func TestRDMABesideTCP(t *testing.T) {
	c := star(3)
	c.Fabric.Port.Queues, c.Fabric.Port.Scheduler = 1, kind.Choice{Kind: "fifo"}
	c.Fabric.Pause = fabric.Pause{XOff: 100 * units.KB, XOn: 90 * units.KB}
	c.Others = []Speech{{RDMA: roce(t, 3)}}
	c.Flows = pushed(flow(0, 0, 1, 2_000_000), of(1, flow(1, 0, 2, 2_000_000)))
	_, o := run(t, c)
	for _, p := range o.Ports {
		for _, q := range p.Queues {
			if q.DropsFull > 0 {
				t.Errorf("%+v", p)
			}
		}
	}
}

// TestUnknownTransport: a flow of a transport that hosts do not speak is refused.
func TestUnknownTransport(t *testing.T) {
	c := star(2)
	c.Flows = pushed(of(1, flow(0, 0, 1, 1000)))
	if _, err := New(c); err == nil {
		t.Error("a simulation has a flow of a transport that nobody speaks")
	}
}

// TestGoodputOfTransports: what is delivered counts by transport and workload.
func TestGoodputOfTransports(t *testing.T) {
	c := star(3)
	c.Others, c.Goodput = []Speech{speaking(c, "cubic")}, ms
	second := of(1, flow(1, 0, 2, 300_000))
	second.Workload = 2
	c.Flows = pushed(flow(0, 0, 1, 500_000), second)
	_, o := run(t, c)
	got := map[[2]int32]int64{}
	for _, s := range o.Services {
		got[[2]int32{s.Workload, s.Transport}] += s.Bytes
	}
	if len(got) != 2 || got[[2]int32{0, 0}] != 500_000 || got[[2]int32{2, 1}] != 300_000 {
		t.Errorf("delivered by workload and transport %v", got)
	}
}
