package sim

import (
	"slices"
	"testing"

	"aqmlab/kind"
	"aqmlab/sim/rdma"
	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

// TestFlowsKnowTheirLosses: what the flows say adds up to what the hosts
// counted, on persistent connections, on fresh ones, and over RDMA.
func TestFlowsKnowTheirLosses(t *testing.T) {
	fresh, persistent := lossy(), lossy()
	fresh.Connections, fresh.Handshake = 0, true
	remote := lossy()
	remote.TCP, remote.RDMA = nil, roce(t, len(remote.Fabric.Hosts))
	for name, c := range map[string]Config{"persistent": persistent, "fresh": fresh, "rdma": remote} {
		_, o := simulate(t, c)
		completed(t, o)
		var resent, expired, hosts, timeouts int64
		hit := 0
		for _, f := range o.Flows {
			resent += f.Retransmits
			expired += f.Timeouts
			if f.Retransmits > 0 {
				hit++
			}
		}
		for _, h := range o.Hosts {
			hosts += h.Retransmits
			timeouts += h.Timeouts
		}
		if resent != hosts || expired != timeouts {
			t.Errorf("%s: flows sent %d packets again after %d timeouts, hosts %d after %d", name, resent, expired, hosts, timeouts)
		}
		if hit < 2 || hit == len(o.Flows) || timeouts == 0 {
			t.Errorf("%s: %d of %d flows lost anything, %d timeouts: the test shows nothing", name, hit, len(o.Flows), timeouts)
		}
	}
}

// lossy has twenty flows over links that lose packets.
func lossy() Config {
	c := star(4)
	c.Fabric.Port.Scheme = kind.Choice{Kind: "droptail"}
	for i := range c.Fabric.Links {
		c.Fabric.Links[i].LossRate = 0.02
	}
	for i := range 20 {
		c.Flows = append(c.Flows, flow(i, ms, 1+i%3, int64(1000+i*4000)))
	}
	return c
}

// TestFlowsGivenUp: a flow over RDMA whose answers are all lost fails, and those
// after it are not held up, on persistent connections and on fresh ones.
func TestFlowsGivenUp(t *testing.T) {
	for _, connections := range []int{0, 1} {
		c := lossy()
		c.TCP, c.Connections = nil, connections
		c.RDMA = roce(t, len(c.Fabric.Hosts))
		for i := range c.Fabric.Links {
			c.Fabric.Links[i].LossRate = 0
		}
		c.Fabric.Links[1].LossRate = 1 - 1e-9 // of the first server
		_, o := simulate(t, c)
		for _, f := range o.Flows {
			if lost := f.Server == 1; f.Completed() == lost || lost && f.Error != givenUp {
				t.Errorf("%d connections: flow %d from server %d: %q", connections, f.ID, f.Server, f.Error)
			}
		}
	}
}

// roce has that many hosts at 1 Gbps.
func roce(t *testing.T, hosts int) *rdma.Config {
	t.Helper()
	params, err := transport.Table().New("dcqcn", nil, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	return &rdma.Config{DCQCN: params.DCQCN, MTU: 1500, RTO: 4 * ms, Uplinks: slices.Repeat([]units.Rate{units.Gbps}, hosts)}
}
