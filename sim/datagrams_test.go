package sim

import (
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/results"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// cbr is a flow of datagrams at a rate of payload between two times.
func cbr(id, server int, rate units.Rate, start, stop time.Duration) traffic.Flow {
	return traffic.Flow{ID: id, Server: server, Start: start, Stop: stop, Rate: rate, Bytes: traffic.MaxBytes, Transport: 1}
}

// withDatagrams is the star with UDP beside its own transport.
func withDatagrams(n int) Config {
	c := star(n)
	c.Others = []Speech{{Datagrams: &Datagrams{Payload: 1472}}}
	return c
}

// TestConstantRate: 100 Mbps of payload for a second are 8491 datagrams of 1472 bytes, and
// all arrive where there is room. The first has 24 bytes more, which make a datagram of
// their own, and are no payload. The flow ends with its last datagram, which is one of
// 117.76 us before the stop.
func TestConstantRate(t *testing.T) {
	for _, connections := range []int{0, 1} {
		for _, push := range []bool{true, false} {
			c := withDatagrams(2)
			c.Connections = connections
			f := cbr(0, 1, 100*units.Mbps, ms, ms+time.Second)
			f.Push = push
			c.Flows = []traffic.Flow{f}
			s, o := simulate(t, c)
			got := o.Flows[0]
			if n := got.Received / 1472; !got.Completed() || got.Received%1472 != 0 || n < 8491 || n > 8493 {
				t.Errorf("%d connections: %+v, %d datagrams", connections, got, n)
			}
			if got.FCT < time.Second-200*us || got.FCT > time.Second+200*us || got.Retransmits+got.Timeouts != 0 {
				t.Errorf("%d connections: took %v, %d sent again", connections, got.FCT, got.Retransmits)
			}
			if left := drain(s); left > 0 {
				t.Errorf("%d packets are left", left)
			}
		}
	}
}

// TestDatagramsDoNotRespond: two flows of 800 Mbps through a link of 1 Gbps lose what does
// not fit, and go on: 1 Gbps carries 957 Mbps of payload in frames of 1538 bytes, for half
// a second and then what the buffer of 1 MB holds, 8 ms more. Their packets are not ECN-capable, so nothing is marked. A flow of DCTCP beside them gets next
// to nothing.
func TestDatagramsDoNotRespond(t *testing.T) {
	c := withDatagrams(4)
	c.Fabric.Port.Scheme = kind.Choice{Kind: "dctcp-red", Params: map[string]any{"threshold": "30KB"}}
	c.Flows = []traffic.Flow{cbr(0, 1, 800*units.Mbps, ms, 501*ms), cbr(1, 2, 800*units.Mbps, ms, 501*ms), flow(2, 2*ms, 3, 10e6)}
	c.Flows[2].Stop = 400 * ms
	c.Flows[2].Bytes = traffic.MaxBytes
	s, o := simulate(t, c)
	completed(t, o)
	all := float64(o.Flows[0].Received+o.Flows[1].Received) * 8 / 0.5e9
	if all < 0.92 || all > 0.957*508/500 {
		t.Errorf("%.3f Gbps arrive", all)
	}
	if share := float64(o.Flows[2].Received) * 8 / 0.4e9; share > 0.05 {
		t.Errorf("DCTCP has %.3f Gbps beside them", share)
	}
	n := toHost(o, "h1")[0]
	if n.DropsFull+n.DropsScheme == 0 {
		t.Error("nothing is dropped")
	}
	if left := drain(s); left > 0 {
		t.Errorf("%d packets are left", left)
	}
}

// TestDatagramsMayBeMarked: with a codepoint of the lab's they are, and what comes marked
// is counted.
func TestDatagramsMayBeMarked(t *testing.T) {
	c := withDatagrams(3)
	c.Others[0].Codepoint = packet.Codepoint{Set: true, ECN: packet.ECT0, All: true}
	c.Fabric.Port.Scheme = kind.Choice{Kind: "dctcp-red", Params: map[string]any{"threshold": "30KB"}}
	c.Flows = []traffic.Flow{cbr(0, 1, 600*units.Mbps, ms, 101*ms), cbr(1, 2, 600*units.Mbps, ms, 101*ms)}
	_, o := simulate(t, c)
	if marked := toHost(o, "h1")[0].Marked; marked == 0 || o.Hosts[0].CEReceived != marked {
		t.Errorf("%d marked, %d came", marked, o.Hosts[0].CEReceived)
	}
}

// TestDatagramsOfNobody: a flow of which nothing arrives ends all the same.
func TestDatagramsOfNobody(t *testing.T) {
	c := withDatagrams(2)
	c.Fabric.Links[0].LossRate = 0.999999999
	c.Flows = []traffic.Flow{cbr(0, 1, units.Mbps, ms, 101*ms)}
	_, o := simulate(t, c)
	if f := o.Flows[0]; f.Received != 0 || f.Error != "" {
		t.Errorf("%+v", f)
	}
}

// TestDatagramsNeedARate: nothing else says how much is sent.
func TestDatagramsNeedARate(t *testing.T) {
	for _, f := range []traffic.Flow{cbr(0, 1, 0, ms, 2*ms), cbr(0, 1, units.Mbps, ms, 0)} {
		c := withDatagrams(2)
		c.Flows = []traffic.Flow{f}
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), "flow 0: datagrams need a rate and a time to stop") {
			t.Errorf("%v", err)
		}
	}
	c := withDatagrams(2)
	c.Others[0].Datagrams.Payload = 0
	if _, err := New(c); err == nil {
		t.Error("datagrams without payload")
	}
}

// TestSendersOfDatagrams: they have a rate and no window.
func TestSendersOfDatagrams(t *testing.T) {
	c := withDatagrams(2)
	c.Senders = 10 * ms
	c.Flows = []traffic.Flow{cbr(0, 1, units.Mbps, ms, 51*ms)}
	_, o := simulate(t, c)
	if len(o.Senders) < 4 || o.Senders[0] != (results.SenderSample{At: 10 * ms, Rate: 1e6, Alpha: results.Unknown}) {
		t.Errorf("%+v", o.Senders)
	}
}
