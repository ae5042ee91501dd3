package sim

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"aqmlab/sim/rdma"
	"aqmlab/sim/tcp"
	"aqmlab/switch/fabric"
	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

// toClient is the course of the link towards host h1 in a star of these tests.
func toClient(states ...fabric.LinkState) []fabric.LinkCourse {
	return []fabric.LinkCourse{{Link: 0, Back: true, States: states}}
}

func at(t time.Duration, rate units.Rate) fabric.LinkState {
	return fabric.LinkState{At: t, Rate: rate, Delay: 10 * us}
}

// window gives hosts a window for that many segments at once, which nothing reduces.
func window(c *Config, segments int) {
	c.TCP.InitCwnd = segments
	c.TCP.LossRecovery = tcp.SACK
	c.Fabric.Port.Buffer = 10 * units.MB
}

// TestFCTAcrossRates: a flow of 1000 segments that are all sent at once takes what its
// slower link takes for them: 12.304 us for each that begins at 1 Gbps, and twice that for
// those that begin from 4 ms to 8 ms, when the link has half of its rate.
func TestFCTAcrossRates(t *testing.T) {
	const segments = 1000
	c := star(2)
	window(&c, segments)
	c.Flows = pushed(flow(0, 0, 1, segments*mss-headerBytes)) // with the response's header
	c.Fabric.Timeline.Links = toClient(at(4*ms, 500*units.Mbps), at(8*ms, units.Gbps))
	_, o := simulate(t, c)
	completed(t, o)
	begins := onWire(mss) + 10*us
	for range segments {
		takes := onWire(mss)
		if begins >= 4*ms && begins < 8*ms {
			takes *= 2
		}
		begins += takes
	}
	// The last segment is a little shorter; the clock of a link rounds by less than that.
	if want := begins + 10*us; o.Flows[0].FCT > want+us || o.Flows[0].FCT < want-us {
		t.Errorf("FCT %v, want %v", o.Flows[0].FCT, want)
	}
}

// TestFlapLosesWhatIsSent: of segments that are sent at once, a link that is down for 1 ms
// loses those that are on it then. They are sent again, the flow completes, and the same
// configuration loses the same.
func TestFlapLosesWhatIsSent(t *testing.T) {
	const segments = 400
	run := func() Outcome {
		c := star(2)
		window(&c, segments)
		c.Flows = pushed(flow(0, 0, 1, segments*mss-headerBytes))
		down := at(2*ms, units.Gbps)
		down.Down = true
		c.Fabric.Timeline.Links = slices.Concat(toClient(down, at(3*ms, units.Gbps)), []fabric.LinkCourse{{Link: 0, States: []fabric.LinkState{down, at(3*ms, units.Gbps)}}})
		s, o := simulate(t, c)
		completed(t, o)
		if left := drain(s); left != 0 {
			t.Errorf("%d packets are not accounted for", left)
		}
		return o
	}
	o := run()
	var want int64
	first := onWire(mss) + 10*us
	for i := range time.Duration(segments) {
		begins := first + i*onWire(mss)
		if begins < 3*ms && begins+onWire(mss)+10*us > 2*ms {
			want++
		}
	}
	i := slices.IndexFunc(o.Lost, func(l fabric.LossCount) bool { return l.To == "h1" })
	if i < 0 || o.Lost[i].Cut != want || o.Lost[i].Packets != 0 {
		t.Errorf("lost %+v, want %d towards h1", o.Lost, want)
	}
	if o.Hosts[1].Retransmits < want {
		t.Errorf("%d sent again, of %d", o.Hosts[1].Retransmits, want)
	}
	if again := run(); !reflect.DeepEqual(o, again) {
		t.Error("a second run differs")
	}
}

// TestRDMAFollowsItsLink: a card that has its own link to itself sends at the rate that the
// link has, and not faster: nothing waits for the link.
func TestRDMAFollowsItsLink(t *testing.T) {
	c := star(2)
	row, err := transport.Table().New("dcqcn", nil, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	c.TCP, c.RDMA = nil, &rdma.Config{DCQCN: row.DCQCN, MTU: 1500, RTO: 10 * ms}
	for i := range c.Fabric.Hosts {
		c.RDMA.Uplinks = append(c.RDMA.Uplinks, c.Fabric.Uplink(i))
	}
	const bytes = 1456 * 1000
	c.Flows = pushed(flow(0, 0, 1, bytes))
	half := []fabric.LinkState{at(2*ms, 500*units.Mbps), at(6*ms, units.Gbps)}
	c.Fabric.Timeline.Links = []fabric.LinkCourse{{Link: 1, States: half}} // from h2
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for s.running() {
		s.move(forever, 1)
		if b := s.network.Backlog(s.loop.Now(), 1); b > 2*onWire(mss)+us {
			t.Fatalf("%v of the link wait at %v", b, s.loop.Now())
		}
	}
	o := s.Outcome()
	completed(t, o)
	// 1000 full packets take 12.304 us each, and twice that for 4 ms: 2 ms more.
	if want := 1000*onWire(mss) + 2*ms + onWire(mss) + 20*us; o.Flows[0].FCT < want-20*us || o.Flows[0].FCT > want+60*us {
		t.Errorf("FCT %v, want %v", o.Flows[0].FCT, want)
	}
}
