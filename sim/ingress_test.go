package sim

import (
	"testing"

	"aqmlab/kind"
)

// withABQ lets 40 servers send 200 KB each to one client at once, past ports that
// hold ACKs.
func withABQ(params map[string]any) Config {
	c := star(41)
	c.Fabric.Port.Ingress = kind.Choice{Kind: "abq", Params: params}
	for i := range 40 {
		c.Flows = append(c.Flows, flow(i, ms, 1+i, 200_000))
	}
	c.Flows = pushed(c.Flows...)
	return c
}

// held adds up the ACKs that ports held.
func held(o Outcome) (n int64) {
	for _, p := range o.Ports {
		n += p.Ingress.Held
	}
	return n
}

// TestABQHoldsTCPAlone: ABQ holds TCP's ACKs, whose senders wait for them (ABQ,
// sections on the engine and the window corrector). A sender of RoCE goes on at
// its rate without them, and gives up when they stay away.
func TestABQHoldsTCPAlone(t *testing.T) {
	c := withABQ(nil)
	_, o := simulate(t, c)
	completed(t, o)
	if held(o) == 0 {
		t.Error("no ACK of TCP was held")
	}
	c.TCP, c.RDMA = nil, roce(t, len(c.Fabric.Hosts))
	s, o := simulate(t, c)
	completed(t, o)
	if n := held(o); n > 0 {
		t.Errorf("%d answers of RoCE were held", n)
	}
	if n := drain(s); n > 0 {
		t.Errorf("%d packets left", n)
	}
}
