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

// TestABQProgram: with what the authors' program does to the ACKs that wait, every
// flow completes and no packet is lost. In the end ACKs that nobody waits for may
// still wait for the next packet at their port.
func TestABQProgram(t *testing.T) {
	for _, params := range []map[string]any{
		{"release": "share"},
		{"release": "share", "queue": "latest"},
		{"corrector": "window"},
		{"release": "share", "corrector": "window"},
		{"release": "share", "corrector": "window", "queue": "latest"},
		{"states": "program"},
		{"states": "program", "release": "share", "corrector": "window", "queue": "latest"},
	} {
		c := withABQ(params)
		c.Connections = 0
		s, o := simulate(t, c)
		completed(t, o)
		cut, replaced := int64(0), int64(0)
		for _, p := range o.Ports {
			i := p.Ingress
			cut, replaced = cut+i.Cut, replaced+i.Replaced
		}
		if (cut > 0) != (params["corrector"] == "window") || (replaced > 0) != (params["queue"] == "latest") || held(o) == 0 {
			t.Errorf("%v: %d held, %d windows cut, %d replaced", params, held(o), cut, replaced)
		}
		left, waiting := drain(s), int64(0)
		for _, p := range s.network.Counts() {
			waiting += p.Ingress.Held - p.Ingress.Released - p.Ingress.Replaced
		}
		if int64(left) != waiting || params["release"] != "share" && waiting > 0 {
			t.Errorf("%v: %d packets left, %d wait", params, left, waiting)
		}
	}
}
