package orchestrator

import (
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/uml"
	"aqmlab/units"
)

func TestParseRuntime(t *testing.T) {
	for _, name := range Runtimes() {
		if r, err := ParseRuntime(name); err != nil || string(r) != name {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
	if _, err := ParseRuntime("cloud"); err == nil || !strings.Contains(err.Error(), "auto, netns") {
		t.Errorf("cloud: %v", err)
	}
}

// TestChooseRuntime: auto is netns for root and labs that fit into real time, else uml
// with a guest kernel, else what is left; it says why.
func TestChooseRuntime(t *testing.T) {
	with := func() (uml.Kernel, error) { return uml.Kernel{Release: "6.1.2"}, nil }
	without := func() (uml.Kernel, error) { return uml.Kernel{}, uml.ErrUnavailable }
	user, userGuest, root, rootGuest := machine{false, without}, machine{false, with}, machine{true, without}, machine{true, with}
	for name, c := range map[string]struct {
		asked, want Runtime
		on          machine
		rate        units.Rate
		rtt         time.Duration
		dilation    labs.Dilation
		transport   string
		why         string
	}{
		"asked for":            {asked: Sim, want: Sim, on: rootGuest},
		"user":                 {want: Sim, on: user, why: "no guest kernel"},
		"user with guest":      {want: UML, on: userGuest, why: "Linux 6.1.2"},
		"root":                 {want: Netns, on: root, why: "root"},
		"root with guest":      {want: Netns, on: rootGuest, why: "fits into real time"},
		"fast":                 {want: Netns, on: root, rate: 10 * units.Gbps, why: "slowed down"},
		"fast with guest":      {want: UML, on: rootGuest, rate: 10 * units.Gbps, why: "more than 1Gbps"},
		"short":                {want: UML, on: rootGuest, rtt: 50 * time.Microsecond, why: "50µs is less than 200µs"},
		"fast, dilation given": {want: Netns, on: rootGuest, rate: 10 * units.Gbps, dilation: 20, why: "root"},
		"modelled transport":   {want: Sim, on: rootGuest, transport: "dcqcn", why: "dcqcn"},
	} {
		t.Run(name, func(t *testing.T) {
			lab := parse(t, small)
			lab.Topology.Rate, lab.RTT.Min, lab.Dilation = 100*units.Mbps, time.Millisecond, c.dilation
			if c.rate > 0 {
				lab.Topology.Rate = c.rate
			}
			if c.rtt > 0 {
				lab.RTT.Min = c.rtt
			}
			if c.transport != "" {
				lab.Host.Transport = c.transport
			}
			asked := c.asked
			if asked == "" {
				asked = Auto
			}
			r, why := asked.choose(lab, c.on)
			if r != c.want || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
				t.Errorf("%v because %q, want %v because of %q", r, why, c.want, c.why)
			}
		})
	}
}
