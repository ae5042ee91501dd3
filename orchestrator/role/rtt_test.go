package role_test

import (
	"strings"
	"testing"
	"time"

	"aqmlab/orchestrator/role"
	"aqmlab/trafficgen/live"
)

// TestBaseRTT: every pair is measured on a connection of its own, which the
// server takes no notice of.
func TestBaseRTT(t *testing.T) {
	ends := loopback(3)
	h := serving(t, ends) // fails if the server saw broken requests
	pairs := [][2]int{{0, 1}, {0, 2}, {2, 1}, {2, 1}}
	var rtts []role.RTT
	if err := h.BaseRTT(pairs, &rtts); err != nil {
		t.Fatal(err)
	}
	if len(rtts) != len(pairs) {
		t.Fatalf("%d RTTs of %d pairs", len(rtts), len(pairs))
	}
	seen := map[string]bool{}
	for i, rtt := range rtts {
		if rtt.Least <= 0 || rtt.Least > time.Second || rtt.Dst.Addr() != ends[pairs[i][1]].Addr {
			t.Errorf("RTT %+v over the loopback, of pair %v", rtt, pairs[i])
		}
		if key := rtt.Src.String() + rtt.Dst.String(); seen[key] {
			t.Errorf("connection %s is measured twice", key)
		} else {
			seen[key] = true
		}
	}
	checkRecords(t, replay(t, h, live.Config{Flows: flows(4, 3), Dilation: 1}), flows(4, 3))
}

// TestBaseRTTOfNobody: who does not answer is an error.
func TestBaseRTTOfNobody(t *testing.T) {
	ends := loopback(2)
	ends[1].Elsewhere = true
	h := serving(t, ends)
	var rtts []role.RTT
	if err := h.BaseRTT([][2]int{{0, 1}}, &rtts); err == nil || !strings.Contains(err.Error(), "measuring the base RTT") || len(rtts) != 0 {
		t.Errorf("RTTs %v, %v; want an error", rtts, err)
	}
}
