package testbed

import (
	"slices"
	"testing"

	"aqmlab/labs"
	"aqmlab/orchestrator/netns"
	"aqmlab/switch/wire"
)

// TestPollsOn: a switch polls where it has a CPU of its own: for as long as a run takes,
// and in a lab that stays only while there is traffic.
func TestPollsOn(t *testing.T) {
	testbed := func(switches int, cpus ...int) *Testbed {
		return &Testbed{lab: &labs.Lab{}, net: &netns.Lab{}, cpus: CPUs{Switches: cpus, Hosts: []int{0}}, switches: make([]switchProcess, switches)}
	}
	for _, tt := range []struct {
		name string
		t    *Testbed
		want []int
	}{
		{"two CPUs", testbed(1, 1), []int{1}},
		{"one CPU", testbed(1), nil},
		{"a CPU each", testbed(2, 2, 3), []int{2, 3}},
		{"two switches on a CPU", testbed(2, 1), nil},
	} {
		if got := tt.t.PollsOn(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: polls on %v, want %v", tt.name, got, tt.want)
		}
	}
	run, stays := testbed(1, 1), testbed(1, 1)
	stays.stays, stays.uncalibrated = true, true
	if c := run.ports(0); c.Poll != wire.Forever || run.near(c) {
		t.Errorf("a run polls for %v, near: %v", c.Poll, run.near(c))
	}
	if c := stays.ports(0); c.Poll <= 0 || c.Poll == wire.Forever {
		t.Errorf("a lab that stays polls for %v after a frame", c.Poll)
	}
}
