package testbed

import (
	"slices"
	"testing"

	"aqmlab/labs"
	"aqmlab/units"
)

// Hosts whose links differ have uplinks of their own, those of a dumbbell whose
// slowest link is another than theirs included.
func TestUplinks(t *testing.T) {
	for ref, want := range map[string][]units.Rate{
		"smoke":                        nil,
		"topologies/star8.clab.yml":    nil,
		"topologies/dumbbell.clab.yml": slices.Repeat([]units.Rate{10 * units.Gbps}, 8),
	} {
		lab, err := labs.Load(ref, labs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		spec, err := lab.Fabric(lab.Baseline, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := uplinks(spec, lab.Topology.Rate); !slices.Equal(got, want) {
			t.Errorf("%s: uplinks %v, want %v", ref, got, want)
		}
		tb := Testbed{lab: lab, uplinks: uplinks(spec, lab.Topology.Rate), dilation: 4}
		if tb.dilatePlan(); len(tb.plan.Uplinks) != len(want) || len(want) > 0 && tb.plan.Uplinks[7] != 2.5e9 {
			t.Errorf("%s: planned %v", ref, tb.plan.Uplinks)
		}
	}
}
