package sim

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/sim/tcp"
	"aqmlab/switch/aqm"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

const (
	us = time.Microsecond
	ms = time.Millisecond

	mss    = 1448
	header = 52
)

// star is n hosts around one switch: 1 Gbps, 10 us a link, droptail.
func star(n int) Config {
	c := Config{
		Fabric: fabric.Spec{
			Switches: []string{"s1"},
			Port: port.Spec{
				Queues: 4, Buffer: units.MB, RTTs: aqm.OneRTT(40 * us),
				Scheduler: kind.Choice{Kind: "dwrr"}, Scheme: kind.Choice{Kind: "droptail"},
			},
		},
		Speech: Speech{TCP: &tcp.Config{
			Control: kind.Choice{Kind: "dctcp"}, MSS: mss, Header: header, InitCwnd: 10,
			RTOInit: time.Second, RTOMin: 10 * ms, RTOMax: 120 * time.Second, DelayedAck: 1, LossRecovery: tcp.RACK,
		}},
		Connections: 1,
		Stall:       time.Minute,
	}
	for i := range n {
		h := fabric.Host{Name: fmt.Sprintf("h%d", i+1), Addr: netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})}
		c.Fabric.Hosts = append(c.Fabric.Hosts, h)
		c.Fabric.Links = append(c.Fabric.Links, fabric.Link{A: h.Name, B: "s1", Rate: units.Gbps, Delay: 10 * us})
	}
	return c
}

// flow is one from a server to client 0.
func flow(id int, start time.Duration, server int, bytes int64) traffic.Flow {
	return traffic.Flow{ID: id, Start: start, Server: server, Bytes: bytes}
}

// pushed makes the servers start by themselves.
func pushed(flows ...traffic.Flow) []traffic.Flow {
	for i := range flows {
		flows[i].Push = true
	}
	return flows
}

// simulate runs a configuration to its end.
func simulate(t testing.TB, c Config) (*Simulation, Outcome) {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background(), func(Progress) {}); err != nil {
		t.Fatal(err)
	}
	return s, s.Outcome()
}

// drain lets what is under way arrive, and tells how many packets are not
// accounted for then.
func drain(s *Simulation) int {
	s.loop.RunUntil(s.loop.Now() + 10*time.Second)
	return s.pool.Taken()
}

// completed fails unless every byte of every flow came.
func completed(t *testing.T, o Outcome) {
	t.Helper()
	for _, f := range o.Flows {
		if !f.Completed() {
			t.Errorf("flow %d: %d of %d bytes: %s", f.ID, f.Received, f.Bytes, f.Error)
		}
	}
}

// onWire is how long a segment of that many payload bytes takes on a link.
func onWire(payload int) time.Duration {
	return units.Gbps.Time(payload + header + packet.FrameOverhead)
}

// sum adds up what the ports counted.
func sum(o Outcome, of func(port.Count) int64) (n int64) {
	for _, p := range o.Ports {
		for _, q := range p.Queues {
			n += of(q)
		}
	}
	return n
}

func toHost(o Outcome, name string) []port.Count {
	for _, p := range o.Ports {
		if p.Far == name {
			return p.Queues
		}
	}
	return nil
}
