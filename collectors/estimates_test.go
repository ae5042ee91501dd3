package collectors

import (
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// TestEstimates has three hosts send to two, half as much again as their links
// take. Each port tells of its own queue, in the
// order of time; a queue alone drains at the rate of the link, less the framing.
func TestEstimates(t *testing.T) {
	spec := star(5, units.MB, kind.Choice{Kind: "ideal-red"})
	spec.Port.RTTs = aqm.OneRTT(time.Millisecond)
	loop, network, pool := build(t, spec)
	c := new(Estimates)
	c.Attach(loop, network)
	for i := range 240 {
		k := pool.Get()
		k.Dst, k.Size, k.DSCP, k.ECN = int32(3+i%2), 1500, uint8(i%2), packet.ECT0
		network.Send(0, i%3, k)
	}
	loop.RunUntil(10 * time.Millisecond)
	all := c.End()
	if len(all) < 4 {
		t.Fatalf("%d estimates of 60 KB beyond what two links take, in cycles of 10 KB", len(all))
	}
	ports := map[string]int32{}
	for i, e := range all {
		ports[e.Port] = e.Queue
		if off := float64(e.Rate)/(1e9*1500/1538) - 1; off < -1e-3 || off > 1e-3 || e.Switch != "s1" || e.Smoothed < e.Rate || e.Smoothed > 1e9 {
			t.Errorf("estimate %d: %+v", i, e)
		}
		if i > 0 && e.At < all[i-1].At {
			t.Errorf("estimate %d at %v, after one at %v", i, e.At, all[i-1].At)
		}
	}
	if len(ports) != 2 || ports["h4"] != 0 || ports["h5"] != 1 {
		t.Errorf("estimates of ports and queues %v", ports)
	}
}

// Schemes that estimate nothing leave no samples.
func TestNoEstimates(t *testing.T) {
	loop, network, pool := build(t, star(3, units.MB, kind.Choice{Kind: "droptail"}))
	c := new(Estimates)
	c.Attach(loop, network)
	for range 40 {
		k := pool.Get()
		k.Dst, k.Size = 2, 1500
		network.Send(0, 0, k)
	}
	loop.RunUntil(10 * time.Millisecond)
	if all := c.End(); len(all) != 0 {
		t.Errorf("%d estimates", len(all))
	}
}
