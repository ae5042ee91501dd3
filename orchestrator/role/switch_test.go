package role_test

import (
	"errors"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/switch/aqm"
	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
	"aqmlab/switch/wire"
	"aqmlab/trafficgen/live"
	"aqmlab/units"
)

// linkDelay is that of both links: a round trip crosses four times.
const linkDelay = time.Millisecond

// lab is two real hosts, a switch that has their interfaces open, and the
// fabric that it is to run.
type lab struct {
	sw     *role.Switch
	ends   []role.End
	fabric role.Fabric
}

// newLab brings a lab up that is removed at the test's end.
func newLab(t *testing.T) lab {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("real hosts need root")
	}
	j, err := journal.Create(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Undo(journal.Undoers{journal.Namespace: netns.Remove}); err != nil {
			t.Error(err)
		}
	})
	plan := netns.Plan{Switches: []string{"s1"}, Hosts: []string{"h1", "h2"}, Subnet: netip.MustParsePrefix("10.77.0.0/24"), MTU: 1500, Uplink: 1e8}
	network, err := netns.Up(t.Context(), j, plan)
	if err != nil {
		t.Fatal(err)
	}
	config := wire.Config{MTU: 1500, CPU: -1}
	l := lab{sw: &role.Switch{}}
	spec := fabric.Spec{Switches: []string{"s1"}, Port: port.Spec{
		Rate: 100 * units.Mbps, RTTs: aqm.OneRTT(4 * linkDelay), Queues: 1, Buffer: 100 * units.KB,
		Scheduler: kind.Choice{Kind: "fifo"}, Scheme: kind.Choice{Kind: "droptail"},
	}}
	for _, h := range network.Hosts {
		config.Ports = append(config.Ports, wire.PortConfig{Interface: h.Name, MAC: h.Gateway[:], Far: h.MAC[:]})
		l.ends = append(l.ends, role.End{Namespace: h.Namespace, Addr: h.Addr})
		spec.Hosts = append(spec.Hosts, fabric.Host{Name: h.Name, Addr: h.Addr})
		spec.Links = append(spec.Links, fabric.Link{A: h.Name, B: "s1", Rate: 100 * units.Mbps, Delay: linkDelay})
	}
	l.fabric = role.Fabric{Spec: spec, Dilation: 1, Sample: time.Millisecond}
	if err := netns.Do(network.Switches[0], func() error { return l.sw.Open(config, &agent.Nothing{}) }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 2 {
			if err := l.sw.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return l
}

// TestTrafficThroughTheSwitch: what the hosts receive is what the switch sent
// them, and takes the links' time.
func TestTrafficThroughTheSwitch(t *testing.T) {
	l := newLab(t)
	if err := l.sw.Start(l.fabric, &agent.Nothing{}); err != nil {
		t.Fatal(err)
	}
	h := serving(t, l.ends)
	var rtts []role.RTT
	if err := h.BaseRTT([][2]int{{0, 1}, {1, 0}}, &rtts); err != nil {
		t.Fatal(err)
	}
	for _, rtt := range rtts {
		if rtt.Least < 4*linkDelay {
			t.Errorf("an RTT of %+v over four links of %v", rtt, linkDelay)
		}
	}
	trace := flows(20, 2)
	records := replay(t, h, live.Config{Flows: trace, Dilation: 1, Connections: 1})
	checkRecords(t, records, trace)
	var first, rest []results.QueueSample
	if err := errors.Join(l.sw.Recent(0, &first), l.sw.Recent(len(first), &rest)); err != nil || len(first) == 0 {
		t.Errorf("%d samples while the switch runs, %v", len(first), err)
	}
	var m role.Measured
	if err := l.sw.Finish(agent.Nothing{}, &m); err != nil {
		t.Fatal(err)
	}
	if all := slices.Concat(first, rest); len(m.Queues) < len(all) || !slices.Equal(m.Queues[:len(all)], all) {
		t.Errorf("%d samples in two parts, which are not the first of the %d", len(all), len(m.Queues))
	}
	var payload, sent, sampled int64
	for _, r := range records {
		payload += r.Bytes
	}
	for _, p := range m.Ports {
		if p.Far == "h1" {
			sent = p.Queues[0].SentBytes
		}
	}
	for _, q := range m.Queues {
		if q.Port == "h1" {
			sampled += q.Sent
		}
	}
	if sent < payload || sent > 2*payload {
		t.Errorf("the switch sent %d bytes to h1, for a payload of %d", sent, payload)
	}
	// What left after the last sample is in none.
	if sampled <= 0 || sampled > sent {
		t.Errorf("samples hold %d of %d bytes", sampled, sent)
	}
}

// TestTimelineOfASwitch: a switch that runs begins its fabric's timeline when it is told
// to. Then a link has another delay.
func TestTimelineOfASwitch(t *testing.T) {
	l := newLab(t)
	const slow = 40 * time.Millisecond
	states := []fabric.LinkState{{Rate: 100 * units.Mbps, Delay: slow}}
	l.fabric.Spec.Timeline.Links = []fabric.LinkCourse{{Link: 1, Back: true, States: states}}
	if err := l.sw.Start(l.fabric, &agent.Nothing{}); err != nil {
		t.Fatal(err)
	}
	h := serving(t, l.ends)
	now, err := host.Monotonic()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.sw.Begin(now, &agent.Nothing{}); err != nil {
		t.Fatal(err)
	}
	for { // the session notices it soon
		var rtts []role.RTT
		if err := h.BaseRTT([][2]int{{0, 1}}, &rtts); err != nil {
			t.Fatal(err)
		}
		if rtts[0].Least >= slow+3*linkDelay {
			break
		}
	}
	var m role.Measured
	if err := l.sw.Finish(agent.Nothing{}, &m); err != nil {
		t.Fatal(err)
	}
}

// TestSwitchOutOfOrder: calls that come too early or too late are errors that
// say what is missing, and change nothing.
func TestSwitchOutOfOrder(t *testing.T) {
	refused := func(what string, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	var nothing agent.Nothing
	var m role.Measured
	var closed role.Switch
	refused("Start before Open", closed.Start(role.Fabric{}, &nothing), "no interfaces yet")
	refused("Finish before Start", closed.Finish(nothing, &m), "not running")
	refused("Begin before Start", closed.Begin(0, &nothing), "not running")
	refused("Recent before Start", closed.Recent(0, nil), "not running")
	refused("Look before Start", closed.Look(nothing, nil), "not running")
	refused("Change before Start", closed.Change(port.Spec{}, &nothing), "not running")
	refused("Follow before Start", closed.Follow(role.Course{}, &nothing), "not running")
	missing := wire.Config{MTU: 1500, CPU: -1, Ports: []wire.PortConfig{{Interface: "none-such", MAC: make([]byte, 6), Far: make([]byte, 6)}}}
	refused("Open what is not there", closed.Open(missing, &nothing), "none-such")
	refused("Start after that", closed.Start(role.Fabric{}, &nothing), "no interfaces yet")
	if err := closed.Close(); err != nil {
		t.Errorf("close what was never open: %v", err)
	}

	checkRunningOrder(t, refused)
}

// checkRunningOrder does so with a switch that has its interfaces.
func checkRunningOrder(t *testing.T, refused func(what string, err error, want string)) {
	t.Helper()
	var nothing agent.Nothing
	var m role.Measured
	l := newLab(t)
	refused("Open twice", l.sw.Open(wire.Config{}, &nothing), "its interfaces already")
	refused("Finish before Start", l.sw.Finish(nothing, &m), "not running")
	wrong := l.fabric
	wrong.Dilation = 0
	refused("Start without time", l.sw.Start(wrong, &nothing), "dilation")
	for range 2 { // it runs one fabric after another
		if err := l.sw.Start(l.fabric, &nothing); err != nil {
			t.Fatal(err)
		}
		refused("Start twice", l.sw.Start(l.fabric, &nothing), "is running")
		refused("Look at what counts for nobody", l.sw.Look(nothing, nil), "does not count")
		refused("Change to nothing", l.sw.Change(port.Spec{}, &nothing), "port of s1 to h1")
		refused("Follow a link that is not there", l.sw.Follow(role.Course{Timeline: fabric.Timeline{Links: []fabric.LinkCourse{{Link: 9}}}}, &nothing), "no link has the number 9")
		if err := l.sw.Finish(nothing, &m); err != nil {
			t.Fatal(err)
		}
		refused("Finish twice", l.sw.Finish(nothing, &m), "not running")
	}
	quiet := l.fabric
	quiet.Sample = 0
	if err := l.sw.Start(quiet, &nothing); err != nil {
		t.Fatal(err)
	}
	if err := l.sw.Finish(nothing, &m); err != nil || len(m.Queues) > 0 {
		t.Errorf("%d samples that nobody asked for, %v", len(m.Queues), err)
	}
	if err := l.sw.Start(l.fabric, &nothing); err != nil {
		t.Fatal(err) // Close ends it
	}
}
