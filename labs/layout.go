package labs

import (
	"fmt"
	"time"

	"aqmlab/labs/topologies"
)

// layout lays the topology out. A lab that was loaded has no error.
func (t Topology) layout() (topologies.Layout, error) {
	if t.laid != nil {
		return *t.laid, nil
	}
	return topologies.Table().New(t.Kind, t.Params, topologies.Env{Hosts: t.Hosts, Rate: t.Rate})
}

// Racks is the number of each host's rack: hosts of one rack share the switch
// that they are linked to. Racks count from zero. The lab is one that was
// loaded.
func (t Topology) Racks() []int { return t.loadedLayout().Racks }

// Hops is the number of links on the longest path between two hosts. The lab is one
// that was loaded.
func (t Topology) Hops() int { return t.loadedLayout().Hops }

func (t Topology) loadedLayout() topologies.Layout {
	layout, err := t.layout()
	if err != nil {
		panic(fmt.Sprintf("a loaded lab that cannot be laid out: %v", err))
	}
	return layout
}

// hasDelays tells whether the topology says what the delays of links are.
func (t Topology) hasDelays() bool {
	if t.laid != nil {
		if some, _ := t.laid.OwnDelays(); some > 0 {
			return true
		}
	}
	return t.LinkDelay > 0
}

// oneWay is the delay of the path between the hosts that are furthest apart, in
// a topology that says what the delays of links are.
func (t Topology) oneWay(layout topologies.Layout) time.Duration {
	if t.laid == nil {
		return time.Duration(layout.Hops) * t.LinkDelay
	}
	return layout.OneWay(t.LinkDelay)
}
