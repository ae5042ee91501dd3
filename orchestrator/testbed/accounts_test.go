package testbed

import (
	"testing"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
	"aqmlab/trafficgen"
	"aqmlab/units"
)

// TestFlowsKnowTheirLosses: with a buffer that holds three packets, the flows of
// the kernel's TCP say how often they were sent again, and together no more than
// the kernel counted for their hosts, which includes what came after.
func TestFlowsKnowTheirLosses(t *testing.T) {
	lab := parse(t, small, func(l *labs.Lab) { l.Switch.Buffer.PerPort = 5 * units.KB })
	tb := testbed(t, lab)
	flows, err := trafficgen.Trace(lab.Traffic(0.5, 1))
	if err != nil {
		t.Fatal(err)
	}
	p, err := tb.Run(t.Context(), backend.Point{Coord: results.Coord{Scheme: "droptail", Load: 0.5, Seed: 1}, Flows: flows}, func(backend.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	var resent, expired int64
	for _, f := range p.Flows {
		if !f.Completed() {
			t.Errorf("flow %d: %s", f.ID, f.Error)
		}
		resent += f.Retransmits
		expired += max(f.Timeouts, 0)
	}
	c := results.CountsOf(p)
	if resent == 0 || resent > c.Retransmits || expired > c.Timeouts {
		t.Errorf("flows sent %d packets again after %d timeouts, hosts %d after %d", resent, expired, c.Retransmits, c.Timeouts)
	}
	if c.DropsFull == 0 || c.Drops != c.DropsFull {
		t.Errorf("%+v: want drops for want of room alone", c)
	}
}
