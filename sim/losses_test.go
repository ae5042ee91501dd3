package sim

import (
	"testing"

	"aqmlab/kind"
	"aqmlab/sim/rdma"
	"aqmlab/transport"
	"aqmlab/units"
)

// TestFlowsKnowTheirLosses: what the flows say adds up to what the hosts
// counted, on persistent connections, on fresh ones, and over RDMA.
func TestFlowsKnowTheirLosses(t *testing.T) {
	fresh, persistent := lossy(), lossy()
	fresh.Connections, fresh.Handshake = 0, true
	roce := lossy()
	roce.TCP = nil
	params, err := transport.Table().New("dcqcn", nil, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	roce.RDMA = &rdma.Config{DCQCN: params.DCQCN, MTU: 1500, RTO: 4 * ms}
	for range roce.Fabric.Hosts {
		roce.RDMA.Uplinks = append(roce.RDMA.Uplinks, units.Gbps)
	}
	for name, c := range map[string]Config{"persistent": persistent, "fresh": fresh, "rdma": roce} {
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
