package fabric

import (
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// TestPortsOfASwitchShareItsPool: two ports are offered 20 packets each at once.
// One of each goes on the wire, so 38 want room at the same time: all find it in
// two buffers of 30, and 8 do not in one pool of 30.
func TestPortsOfASwitchShareItsPool(t *testing.T) {
	for sharing, wantDrops := range map[string]int{"port": 0, "pool": 8} {
		spec := star(42, units.Gbps, 10*us)
		spec.Port.Buffer = 30 * 1500
		spec.Port.Sharing = kind.Choice{Kind: sharing}
		r := newRig(t, spec)
		for i := range 40 {
			r.send(0, 2+i, i%2, 1500)
		}
		r.RunUntil(time.Second)
		drops := 0
		for _, p := range r.Ports() {
			drops += int(p.Count(0).DropsFull)
		}
		if drops != wantDrops || len(r.log)+drops != 40 || r.pool.Taken() != 0 {
			t.Errorf("%s: %d dropped, %d delivered, %d lost; want %d dropped", sharing, drops, len(r.log), r.pool.Taken(), wantDrops)
		}
	}
}
