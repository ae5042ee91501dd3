package backend

import (
	"slices"
	"testing"

	"aqmlab/results"
	"aqmlab/switch/fabric"
)

// TestLinksOfSwitchesApart: a direction of a link has one row, in the order of the network,
// though its ends are of switches that count apart. Two links between the same nodes have a
// row each.
func TestLinksOfSwitchesApart(t *testing.T) {
	got := Counters(nil, []fabric.LossCount{
		{Number: 5, From: "b", To: "a", Cut: 3},
		{Number: 4, From: "a", To: "b", Packets: 1, Cut: 2},
		{Number: 4, From: "a", To: "b", Cut: 4},
		{Number: 6, From: "a", To: "b", Packets: 7},
	}, nil).Links
	want := []results.LinkCount{
		{From: "a", To: "b", Lost: 1, LostDown: 6},
		{From: "b", To: "a", LostDown: 3},
		{From: "a", To: "b", Lost: 7},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
