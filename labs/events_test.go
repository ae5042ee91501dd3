package labs_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/switch/fabric"
	"aqmlab/units"
)

// eventful is a lab of three hosts at 1 Gbps, with links of 25 us, and these events.
const eventful = `topology: {hosts: 3, rate: 1Gbps}
rtt: 100us
schemes: [{name: droptail, aqm: droptail}]
events:
`

func timelineOf(t *testing.T, file string) fabric.Timeline {
	t.Helper()
	l, err := labs.Parse("x.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := l.Fabric("droptail", 1)
	if err != nil {
		t.Fatal(err)
	}
	return spec.Timeline
}

// TestEvents: an event changes what it names, both directions of a link unless it names
// one, and leaves the rest as it is. What lasts for a time is then as the lab says.
func TestEvents(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	state := func(at time.Duration, rate units.Rate, delay time.Duration) fabric.LinkState {
		return fabric.LinkState{At: at, Rate: rate, Delay: delay}
	}
	both := func(link int, states ...fabric.LinkState) []fabric.LinkCourse {
		return []fabric.LinkCourse{{Link: link, States: states}, {Link: link, Back: true, States: states}}
	}
	down := state(3*ms, units.Gbps, 25*us)
	down.Down = true
	lossy, lossier := state(0, units.Gbps, 25*us), state(ms, units.Gbps, 25*us)
	lossy.LossRate, lossier.LossRate = 0.01, 0.025
	for events, want := range map[string]fabric.Timeline{
		"- {at: 100ms, link: s1:h2, rate: 500Mbps}": {Links: both(1, state(100*ms, 500*units.Mbps, 25*us))},
		"- {at: 100ms, link: h2:s1, rate: 500Mbps}": {Links: both(1, state(100*ms, 500*units.Mbps, 25*us))},
		"- {at: 1ms, link: s1:h1, from: s1, delay: 0s}": {Links: []fabric.LinkCourse{
			{Link: 0, Back: true, States: []fabric.LinkState{state(ms, units.Gbps, 0)}},
		}},
		"- {at: 3ms, link: s1:h3, down: true}\n- {at: 4ms, link: s1:h3, down: false}":  {Links: both(2, down, state(4*ms, units.Gbps, 25*us))},
		"- {at: 3ms, for: 1ms, link: s1:h3, down: true}":                               {Links: both(2, down, state(4*ms, units.Gbps, 25*us))},
		"- {at: 0s, link: s1:h3, loss: 1%}\n- {at: 1ms, link: s1:h3, loss: 2.5%}":      {Links: both(2, lossy, lossier)},
		"- {at: 2ms, link: s1:h1, rate: 2Gbps}\n- {at: 1ms, link: s1:h1, delay: 50us}": {Links: both(0, state(ms, units.Gbps, 50*us), state(2*ms, 2*units.Gbps, 50*us))},
		// What ends makes room for what begins, and takes along nothing but what it set.
		"- {at: 2ms, link: s1:h1, rate: 2Gbps}\n- {at: 1ms, for: 1ms, link: s1:h1, rate: 3Gbps, delay: 50us}\n- {at: 1500us, link: s1:h1, delay: 60us}": {
			Links: both(0, state(ms, 3*units.Gbps, 50*us), state(1500*us, 3*units.Gbps, 60*us), state(2*ms, units.Gbps, 25*us), state(2*ms, 2*units.Gbps, 25*us)),
		},
		"- {at: 1ms, link: s1:h2, rate: 2Gbps}\n- {at: 2ms, link: s1:h1, rate: 3Gbps}": {
			Links: append(both(0, state(2*ms, 3*units.Gbps, 25*us)), both(1, state(ms, 2*units.Gbps, 25*us))...),
		},
		"- {at: 500ms, host: h3, rtt: 300us}": {Hosts: []fabric.HostCourse{{Host: 2, States: []fabric.HostState{{At: 500 * ms, Delays: []time.Duration{200 * us}}}}}},
		"- {at: 1ms, for: 1ms, host: h1, rtt: 100us}\n# the least": {Hosts: []fabric.HostCourse{{Host: 0, States: []fabric.HostState{
			{At: ms, Delays: []time.Duration{0}}, {At: 2 * ms, Delays: []time.Duration{0}},
		}}}},
	} {
		if got := timelineOf(t, eventful+events+"\n"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v, want\n%+v", events, got, want)
		}
	}
}

// TestEventsOfDrawnRTTs: after its time a host has again what was drawn for it.
func TestEventsOfDrawnRTTs(t *testing.T) {
	l, err := labs.Parse("x.yaml", []byte(strings.Replace(eventful, "rtt: 100us", "rtt: {min: 100us, max: 300us, distribution: uniform, per: host}", 1)+
		"- {at: 1ms, for: 1ms, host: h3, rtt: 200us}\nworkload: {pattern: all-to-all}\n"))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := l.Fabric("droptail", 1)
	if err != nil {
		t.Fatal(err)
	}
	states := spec.Timeline.Hosts[0].States
	if drawn := spec.Hosts[2].Delays; len(drawn) != 1 || drawn[0] == 0 || len(states) != 2 || !reflect.DeepEqual(states[1].Delays, drawn) || states[0].Delays[0] != 100*time.Microsecond {
		t.Errorf("states %+v, drawn %v", states, drawn)
	}
}

// TestEventsOfTrunks: every link between two switches is meant, and routes follow when the
// topology says so.
func TestEventsOfTrunks(t *testing.T) {
	l := timelineOf(t, `topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 2, rate: 1Gbps, convergence: 3ms}
rtt: 80us
schemes: [{name: droptail, aqm: droptail}]
events: [{at: 300ms, link: l1:p2, down: true}]
`)
	if len(l.Links) != 2 || l.Links[0].Link != 4+1 || !l.Links[0].States[0].Down || l.Convergence != 3*time.Millisecond {
		t.Errorf("%+v", l)
	}
}

func TestBadEvents(t *testing.T) {
	for event, want := range map[string]string{
		"{at: 1ms}":                                        "x.yaml:5: events.0: of nothing: want link or host",
		"{link: s1:h1, rate: 1Mbps}":                       "x.yaml:5: events.0.at: missing: want a time such as 100ms",
		"{at: -1ms, link: s1:h1, rate: 1Mbps}":             "x.yaml:5: events.0.at: -1ms is outside 0s to 360000s",
		"{at: 1, link: s1:h1, rate: 1Mbps}":                "x.yaml:5: events.0.at: 1 has no unit: want a time such as 250us or 10ms",
		"{at: 1ms, link: s1:h4, rate: 1Mbps}":              `x.yaml:5: events.0.link: no link "s1:h4": want a node and its neighbour, such as s1:h1`,
		"{at: 1ms, link: s1, rate: 1Mbps}":                 `x.yaml:5: events.0.link: no link "s1": want a node and its neighbour, such as s1:h1`,
		"{at: 1ms, link: s1:h1}":                           "x.yaml:5: events.0: changes nothing: want rate, delay, loss, down",
		"{at: 1ms, link: s1:h1, rate: 0bps}":               "x.yaml:5: events.0.rate: 0bps is outside 1Kbps to 100Tbps",
		"{at: 1ms, link: s1:h1, loss: 100%}":               "x.yaml:5: events.0.loss: 100% is outside 0% to below 100%",
		"{at: 1ms, link: s1:h1, loss: 0.1}":                "x.yaml:5: events.0.loss: 0.1 is not text",
		"{at: 1ms, link: s1:h1, down: often}":              `x.yaml:5: events.0.down: "often" is not true or false`,
		"{at: 1ms, link: s1:h1, rtt: 1ms}":                 "x.yaml:5: events.0.rtt: not used with link: want host\nx.yaml:5: events.0: changes nothing: want rate, delay, loss, down",
		"{at: 1ms, link: s1:h1, host: h1, rtt: 1ms}":       "x.yaml:5: events.0.host: link is set, too: want one of the two",
		"{at: 1ms, link: s1:h1, from: h2, rate: 1Mbps}":    `x.yaml:5: events.0.from: "h2" is no end of s1:h1: want s1 or h1`,
		"{at: 1ms, link: s1:h1, from: h1, down: true}":     "x.yaml:5: events.0.from: not used with down: a link goes down in both directions",
		"{at: 1ms, host: h4, rtt: 300us}":                  `x.yaml:5: events.0.host: no host "h4": want one of h1 to h3`,
		"{at: 1ms, host: h1}":                              "x.yaml:5: events.0.rtt: missing: want a time such as 300us",
		"{at: 1ms, host: h1, rtt: 99us}":                   "x.yaml:5: events.0.rtt: 99us is below rtt.min, 100us",
		"{at: 1ms, host: h1, rtt: 1ms, down: true}":        "x.yaml:5: events.0.down: not used with host: want link",
		"{at: 1ms, link: s1:h1, rate: 1Mbps, untill: 3ms}": `x.yaml:5: events.0.untill: unknown key "untill": want one of at, for, link, from, rate, delay, loss, down, host, rtt`,
		"{at: 1ms, link: s1:h1, rate: 1Mbps, for: 0s}":     "x.yaml:5: events.0.for: 0s is outside 1ns to 360000s",
		"flap": "x.yaml:5: events[0]: not a change: want one such as {at: 100ms, link: s1:h2, rate: 500Mbps}",
	} {
		_, err := labs.Parse("x.yaml", []byte(eventful+"  - "+event+"\n"))
		if err == nil || err.Error() != want {
			t.Errorf("%s: got\n%v, want\n%s", event, err, want)
		}
	}
	// A network that is not known has no links to choose from.
	_, err := labs.Parse("x.yaml", []byte(strings.Replace(eventful, "hosts: 3", "kind: ring", 1)+"  - {at: 1ms, link: s1:h1, rate: 1Mbps}\n"))
	if err == nil || !strings.Contains(err.Error(), "topology.kind") || strings.Contains(err.Error(), "events") {
		t.Errorf("got %v", err)
	}
	_, err = labs.Parse("x.yaml", []byte(strings.Replace(eventful, "rtt: 100us", "rtt: {min: 100us, max: 1ms, distribution: uniform, by: netem}", 1)+"  - {at: 1ms, host: h1, rtt: 1ms}\n"))
	if want := "x.yaml:5: events.0.rtt: not used when rtt.by is netem: want auto or delay-line"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestEventsAreOverriddenByNumber, from 0, and written as they are read.
func TestEventsAreOverriddenByNumber(t *testing.T) {
	file := eventful + "  - {at: 1ms, link: s1:h1, rate: 500Mbps, delay: 0s, loss: 0%, down: false}\n  - {at: 2ms, for: 1ms, host: h1, rtt: 300us}\n"
	path := write(t, "x.yaml", file)
	l := load(t, path, "events.0.rate=100Mbps", "events.1.at=5ms")
	if e := l.Events; len(e) != 2 || e[0].Rate != 100*units.Mbps || e[1].At != 5*time.Millisecond || *e[0].Delay != 0 || *e[0].Down {
		t.Errorf("%+v", e)
	}
	if again := reload(t, l); !reflect.DeepEqual(l, again) {
		t.Errorf("wrote\n%+v\nand read\n%+v", l.Events, again.Events)
	}
	if e := l.Events[0].String(); e != "s1:h1 100Mbps delay 0s loss 0% up" {
		t.Errorf("it says %q", e)
	}
	directed := load(t, write(t, "x.yaml", eventful+"  - {at: 1ms, link: s1:h1, from: s1, rate: 500Mbps}\n"))
	if e := directed.Events[0].String(); e != "s1:h1 from s1 500Mbps" {
		t.Errorf("it says %q", e)
	}
	t.Setenv("AQMLAB_EVENTS_1_RTT", "400us")
	if e := load(t, path).Events; e[1].RTT != 400*time.Microsecond {
		t.Errorf("%+v", e)
	}
	_, err := labs.Load(path, labs.Options{Set: []string{"events.2.at=5ms"}})
	if err == nil || !strings.Contains(err.Error(), `unknown event "2": want one of 0, 1`) {
		t.Errorf("error %v", err)
	}
}

// TestPauseOfEvents: the buffer has to hold what a link carries at its longest and fastest.
func TestPauseOfEvents(t *testing.T) {
	file := strings.Replace(eventful, "rtt: 100us", "rtt: 100us\nswitch: {pause: {xoff: 20KB}, buffer: {per_port: 120KB}}", 1)
	timelineOf(t, strings.TrimSuffix(file, "events:\n"))
	_, err := labs.Parse("x.yaml", []byte(file+"  - {at: 1ms, link: s1:h1, delay: 1ms}\n"))
	if err == nil || !strings.Contains(err.Error(), "switch.pause.xoff: switch s1 may come to hold") {
		t.Errorf("error %v", err)
	}
}

// TestChangesRTTs: events of hosts do, and those of links do not.
func TestChangesRTTs(t *testing.T) {
	for events, want := range map[string]bool{
		"  - {at: 1ms, link: s1:h1, delay: 1ms}\n":                                      false,
		"  - {at: 1ms, host: h1, rtt: 1ms}\n":                                           true,
		"  - {at: 1ms, link: s1:h1, delay: 1ms}\n  - {at: 2ms, host: h2, rtt: 300us}\n": true,
	} {
		if l := load(t, write(t, "x.yaml", eventful+events)); l.ChangesRTTs() != want {
			t.Errorf("%s: %v", events, !want)
		}
	}
}
