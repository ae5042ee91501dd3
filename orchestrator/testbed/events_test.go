package testbed

import (
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/orchestrator/netns"
)

// eventful has events of links and of hosts, at 1 Gbps and with links of 25 us.
const eventful = `topology: {hosts: 3, rate: 1Gbps}
rtt: 100us
schemes: [{name: droptail, aqm: droptail}]
events:
  - {at: 30ms, for: 10ms, link: s1:h2, rate: 500Mbps}
  - {at: 10ms, link: s1:h1, from: h1, rate: 2Gbps}
  - {at: 11ms, link: s1:h1, from: h1, delay: 20us}
  - {at: 12ms, link: s1:h3, from: s1, rate: 100Mbps}
  - {at: 13ms, link: s1:h3, down: true}
  - {at: 50ms, host: h3, rtt: 300us}
`

// TestRerates: hosts send at the rate that their own direction of their link has, at times
// and rates on the wall. Nothing else of the events concerns them.
func TestRerates(t *testing.T) {
	tb := Testbed{lab: parse(t, eventful), dilation: 4}
	spec, err := tb.events()
	if err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	want := []Rerate{{40 * ms, 0, 500e6}, {120 * ms, 1, 125e6}, {160 * ms, 1, 250e6}}
	if got := tb.rerates(spec); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestEventsAndOverhead: what hosts and switch add to a round trip is taken out of every
// delay that a host's link ever has, and the switch changes RTTs.
func TestEventsAndOverhead(t *testing.T) {
	lab := parse(t, eventful)
	network, err := netns.Plan{Switches: []string{"s1"}, Hosts: []string{"h1", "h2", "h3"}, Subnet: subnet, MTU: 1500, Uplink: 1e9}.Lab("abcd")
	if err != nil {
		t.Fatal(err)
	}
	tb := Testbed{lab: lab, dilation: 2, overhead: 40 * time.Microsecond, net: network}
	spec, err := tb.fabric("droptail", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range spec.Timeline.Links { // 40 us of wall time, over four crossings and the dilation
		for _, s := range c.States {
			if want := (map[bool]time.Duration{true: 15, false: 20})[c.Link == 0 && s.At == 11*time.Millisecond] * time.Microsecond; s.Delay != want {
				t.Errorf("link %d at %v: delay %v, want %v", c.Link, s.At, s.Delay, want)
			}
		}
	}
	drawn := parse(t, strings.Replace(eventful, "rtt: 100us", "rtt: {min: 100us, max: 300us, distribution: uniform}", 1))
	if byKernel, err := delaysByKernel(drawn, false); byKernel || err != nil {
		t.Errorf("the kernel delays: %v, %v", byKernel, err)
	}
}
