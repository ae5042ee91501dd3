package fabric

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"aqmlab/units"
)

// clos is a leaf-spine of 10 Gbps whose links between switches have that delay, and those
// to hosts 10 us.
func clos(leaves, spines, perLeaf int, delay time.Duration) (s Spec) {
	for l := range leaves {
		leaf := fmt.Sprintf("l%d", l)
		s.Switches = append(s.Switches, leaf)
		for range perLeaf {
			name := fmt.Sprintf("h%d", len(s.Hosts))
			s.Hosts = append(s.Hosts, Host{Name: name})
			s.Links = append(s.Links, Link{A: name, B: leaf, Rate: 10 * units.Gbps, Delay: 10 * us})
		}
	}
	for p := range spines {
		spine := fmt.Sprintf("p%d", p)
		s.Switches = append(s.Switches, spine)
		for l := range leaves {
			s.Links = append(s.Links, Link{A: fmt.Sprintf("l%d", l), B: spine, Rate: 10 * units.Gbps, Delay: delay})
		}
	}
	return s
}

// TestWindow: parts know ahead what a link brings by its delay, and by the time that the
// shortest frame takes: 84 bytes with all overhead, 67.2 ns at 10 Gbps. A transmitter may
// owe less than a nanosecond.
func TestWindow(t *testing.T) {
	s := clos(12, 12, 12, 5*us)
	if got, want := s.Window(), 5*us+66; got != want {
		t.Errorf("window %v, want %v", got, want)
	}
	s.Timeline.Links = []LinkCourse{{Link: len(s.Links) - 1, States: []LinkState{{At: time.Second, Rate: 10 * units.Gbps, Delay: 3 * us}}}}
	if got, want := s.Window(), 3*us+66; got != want {
		t.Errorf("window %v with a delay that becomes shorter, want %v", got, want)
	}
	s.Pause = Pause{XOff: 100 * units.KB, XOn: 97 * units.KB}
	if got, want := s.Window(), 3*us; got != want {
		t.Errorf("window %v with pause frames, which take the delay alone: want %v", got, want)
	}
}

// TestPartition: parts have about the same capacity; what no delay separates is together,
// and a network too small to be worth it is one part.
func TestPartition(t *testing.T) {
	s := clos(12, 12, 12, 5*us)
	parts, of := s.Partition(2)
	if parts != 2 || len(of) != 24 {
		t.Fatalf("%d parts, %v", parts, of)
	}
	capacity := [2]int{144} // the hosts'
	for i, part := range of {
		if capacity[part] += 12; i < 12 { // ports of a spine
			capacity[part] += 12 // a leaf has twice as many
		}
	}
	if capacity[0] != capacity[1] {
		t.Errorf("capacities %v of two parts, want the same", capacity)
	}
	if parts, _ := s.Partition(100); parts != 25 {
		t.Errorf("%d parts of 24 switches and the hosts, want 25", parts)
	}
	if parts, of := clos(12, 12, 12, 0).Partition(16); parts != 2 || slices.Min(of) != 1 || slices.Max(of) != 1 {
		t.Errorf("%d parts, %v, want the hosts and all switches", parts, of)
	}
	if parts, _ := clos(1, 0, 4, 0).Partition(2); parts != 1 {
		t.Errorf("%d parts of a star of four hosts, want 1", parts)
	}
}
