package orchestrator

import (
	"slices"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/trafficgen"
)

// TestSendersOfTheKernel: the kernel's TCP tells its windows, and DCTCP its
// estimate, of the module or of the program that stands in for it.
func TestSendersOfTheKernel(t *testing.T) {
	lab := parse(t, small, func(l *labs.Lab) { l.Collect.Senders = time.Millisecond })
	tb := testbed(t, lab)
	flows, err := trafficgen.Trace(lab.Traffic(0.5, 1))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // one replay after another
		p, err := tb.run(t.Context(), point{"tcn", 0.5, 1, flows}, func(role.State) {})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Senders) == 0 {
			t.Fatal("no sender was sampled")
		}
		seen := map[int64]bool{}
		for _, s := range p.Senders {
			seen[s.Flow] = true
			i := slices.IndexFunc(p.Flows, func(f results.Flow) bool { return f.ID == s.Flow })
			if i < 0 || s.At < p.Flows[i].Sent || s.Cwnd < 1000 || s.SRTT < 0 || s.Alpha < 0 || s.Alpha > 1 {
				t.Errorf("%+v of flow %+v", s, p.Flows[max(i, 0)])
			}
		}
		if len(seen) < 2 {
			t.Errorf("%d of %d flows were ever seen", len(seen), len(flows))
		}
	}
}
