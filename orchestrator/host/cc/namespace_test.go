package cc

import (
	"net"
	"testing"

	"github.com/vishvananda/netlink"
)

// wantDCTCP checks both ends of a connection that did not ask for DCTCP.
func wantDCTCP(t *testing.T, h *Handle, n *network) {
	t.Helper()
	client, server := n.connect(t, "", "")
	for side, conn := range map[string]*net.TCPConn{"client": client, "server": server} {
		if s := state(t, h, conn); s.Algorithm != h.Name() || !s.ECN || s.DCTCP == nil {
			t.Errorf("%s: %+v, want %s with ECN", side, s, h.Name())
		}
	}
	transfer(t, client, times(20))
	if c := n.wire.counts(); c.notECT != 0 || c.ect == 0 {
		t.Errorf("%d data packets were not ECN-capable, %d were", c.notECT, c.ect)
	}
}

// TestRouteCongctl names DCTCP in the routes only. tcp_ecn stays at its
// default, and ECN comes with the route.
func TestRouteCongctl(t *testing.T) {
	h, n := acquire(t, "c"), newNetwork(t)
	for _, ns := range []*namespace{n.client, n.server} {
		routes, err := ns.nl.RouteList(ns.link, netlink.FAMILY_V4)
		must(t, err)
		if len(routes) != 1 {
			t.Fatalf("routes %v, want one", routes)
		}
		routes[0].Congctl = h.Name()
		must(t, ns.nl.RouteReplace(&routes[0]))
	}
	wantDCTCP(t, h, n)
}

// TestNamespaceDefault makes it the default of namespaces that are not the
// kernel's first, which takes a congestion control open to everyone.
func TestNamespaceDefault(t *testing.T) {
	h, n := acquire(t, "n"), newNetwork(t)
	n.client.sysctl(t, "tcp_congestion_control", h.Name())
	n.server.sysctl(t, "tcp_congestion_control", h.Name())
	wantDCTCP(t, h, n)
}
