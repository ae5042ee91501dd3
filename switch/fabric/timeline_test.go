package fabric

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/switch/event"
	"aqmlab/units"
)

const ms = time.Millisecond

// state is a link at a rate and a delay from a time on.
func state(at time.Duration, rate units.Rate, delay time.Duration) LinkState {
	return LinkState{At: at, Rate: rate, Delay: delay}
}

// both is the course of both directions of a link.
func both(link int, states ...LinkState) []LinkCourse {
	return []LinkCourse{{Link: link, States: states}, {Link: link, Back: true, States: states}}
}

// flap is the course of a link that is down from one time to another.
func flap(link int, l Link, from, to time.Duration) []LinkCourse {
	down := state(from, l.Rate, l.Delay)
	down.Down = true
	return both(link, down, state(to, l.Rate, l.Delay))
}

// begun is a rig whose timeline begins at lab time zero.
func begun(t testing.TB, spec Spec) *rig {
	t.Helper()
	r := newRig(t, spec)
	r.Begin(0)
	return r
}

// onLink is what a packet of 1500 bytes takes on a link.
func onLink(r units.Rate) time.Duration { return r.Time(1538) }

// TestRateOverTime: a link at half its rate from 1 ms to 2 ms takes twice as long for each
// packet that begins then, and no other: in the switch's port, and in a host's uplink that
// was given all of them before.
func TestRateOverTime(t *testing.T) {
	for name, changed := range map[string]int{"uplink": 0, "downlink": 1} {
		spec := star(2, units.Gbps, 10*us)
		slow := LinkCourse{Link: changed, Back: changed == 1, States: []LinkState{state(ms, 500*units.Mbps, 10*us), state(2*ms, units.Gbps, 10*us)}}
		spec.Timeline.Links = []LinkCourse{slow}
		r := begun(t, spec)
		for range 250 {
			r.send(0, 0, 1, 1500)
		}
		r.RunUntil(time.Second)
		if len(r.log) != 250 {
			t.Fatalf("%s: %d of 250 arrived", name, len(r.log))
		}
		// Both links are as fast as each other, so packets wait at the slower of the two
		// alone. begins is when each begins to be sent there.
		begins, before := time.Duration(0), onLink(units.Gbps)+20*us
		if name == "downlink" {
			begins, before = onLink(units.Gbps)+10*us, 10*us
		}
		for i, d := range r.log {
			takes := onLink(units.Gbps)
			if begins >= ms && begins < 2*ms {
				takes = onLink(500 * units.Mbps)
			}
			begins += takes
			if want := begins + before; d.at != want {
				t.Fatalf("%s: packet %d at %v, want %v", name, i, d.at, want)
			}
		}
	}
}

// TestRateOfLateNotice: a packet that left its host before a change, and is noticed after
// it, goes by what held when it left.
func TestRateOfLateNotice(t *testing.T) {
	spec := star(2, units.Gbps, 50*us)
	spec.Timeline.Links = both(0, state(10*us, 100*units.Mbps, 40*us))
	r := begun(t, spec)
	r.RunUntil(20 * us)
	r.send(0, 0, 1, 1500)
	r.RunUntil(ms)
	if want := 2 * (onLink(units.Gbps) + 50*us); len(r.log) != 1 || r.log[0].at != want {
		t.Errorf("%v, want one at %v", r.log, want)
	}
}

// TestFlap: a link that is down from 1 ms to 2 ms loses what is on it at 1 ms, the packet
// that is being sent included, and what begins to be sent before 2 ms. What reaches the far
// end in the instant in which it goes down has arrived. All of it is counted.
func TestFlap(t *testing.T) {
	spec := star(2, units.Gbps, 100*us)
	spec.Timeline.Links = flap(1, spec.Links[1], ms, 2*ms)
	r := begun(t, spec)
	for range 250 {
		r.send(0, 0, 1, 1500)
	}
	r.RunUntil(time.Second)
	var want []time.Duration
	first := onLink(units.Gbps) + 100*us
	for i := range time.Duration(250) {
		begins := first + i*onLink(units.Gbps)
		arrives := begins + onLink(units.Gbps) + 100*us
		if arrives <= ms || begins >= 2*ms {
			want = append(want, arrives)
		}
	}
	var got []time.Duration
	for _, d := range r.log {
		got = append(got, d.at)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d arrived, want %d", len(got), len(want))
	}
	lost := r.Lost()
	cut := int64(250 - len(want))
	if len(lost) != 2 || lost[0].Cut != 0 || lost[1].From != "s1" || lost[1].To != "h2" || lost[1].Cut != cut || lost[1].Packets != 0 {
		t.Errorf("lost %+v, want %d of s1 to h2", lost, cut)
	}
	if r.pool.Taken() != 0 {
		t.Errorf("%d packets are not accounted for", r.pool.Taken())
	}
}

// TestDelayOverTime: a packet takes the delay of the time at which it begins to be sent,
// and overtakes none.
func TestDelayOverTime(t *testing.T) {
	spec := star(2, units.Gbps, 10*us)
	spec.Timeline.Links = both(0, state(ms, units.Gbps, 300*us), state(2*ms, units.Gbps, 20*us))
	r := begun(t, spec)
	base := 2*onLink(units.Gbps) + 10*us
	var want []time.Duration
	for _, c := range []struct{ at, arrives time.Duration }{
		{0, 10*us + base},
		{ms, ms + 300*us + base},
		{2*ms - 10*us, 2*ms - 10*us + 300*us + base},
		{2*ms + 100*us, 2*ms - 10*us + 300*us + base + onLink(units.Gbps)}, // behind the one before
		{3 * ms, 3*ms + 20*us + base},
	} {
		r.RunUntil(c.at)
		r.send(c.at, 0, 1, 1500)
		want = append(want, c.arrives)
	}
	r.RunUntil(time.Second)
	for i, d := range r.log {
		if d.at != want[i] {
			t.Errorf("packet %d at %v, want %v", i, d.at, want[i])
		}
	}
}

// TestLossOverTime: a link loses a tenth of its packets while its loss rate says so.
func TestLossOverTime(t *testing.T) {
	spec := star(2, units.Gbps, us)
	lossy := state(time.Second, units.Gbps, us)
	lossy.LossRate = 0.1
	spec.Timeline.Links = both(1, lossy, state(2*time.Second, units.Gbps, us))
	r := begun(t, spec)
	r.spaced(30_000) // in 3 s
	per := make([]int, 3)
	for _, d := range r.log {
		per[d.at/time.Second]++
	}
	// 10,000 packets a second; four standard deviations of 30.
	if per[0] != 10_000 || per[2] != 10_000 || per[1] < 9000-120 || per[1] > 9000+120 {
		t.Errorf("%v arrived in each second", per)
	}
	if l := r.Lost(); l[1].Packets != int64(10_000-per[1]) || l[1].Cut != 0 {
		t.Errorf("lost %+v", l)
	}
}

// TestBeforeTheTimeline: until a timeline begins, a network is as one without; so are the
// draws of its chance until the first state.
func TestBeforeTheTimeline(t *testing.T) {
	run := func(spec Spec, begin bool) []delivery {
		spec.Links[1].LossRate, spec.Links[1].Jitter = 0.1, 20*us
		r := newRig(t, spec)
		if begin {
			r.Begin(0)
		}
		r.spaced(500)
		return r.log
	}
	with := star(2, units.Gbps, us)
	down := state(ms, units.Gbps, us)
	down.Down = true
	with.Timeline.Links = both(1, down)
	with.Timeline.Hosts = []HostCourse{{Host: 0, States: []HostState{{At: 0, Delays: []time.Duration{ms}}}}}
	without := run(star(2, units.Gbps, us), true)
	if !slices.Equal(run(with, false), without) {
		t.Error("a timeline that has not begun changes something")
	}
	late := star(2, units.Gbps, us)
	down.At = 25 * ms
	late.Timeline.Links = both(1, down)
	if got := run(late, true); len(got) == 0 || !slices.Equal(got, without[:len(got)]) || got[len(got)-1].at < 24*ms {
		t.Error("what is to come changes what is before it")
	}
}

// TestZeroOfTimeline: its times count from its own beginning.
func TestZeroOfTimeline(t *testing.T) {
	spec := star(2, units.Gbps, 10*us)
	spec.Timeline.Links = both(1, state(ms, 100*units.Mbps, 10*us))
	r := newRig(t, spec)
	r.Begin(5 * ms)
	for i, takes := range []time.Duration{onLink(units.Gbps), onLink(100 * units.Mbps)} {
		at := 5*ms + 2*ms*time.Duration(i)
		r.RunUntil(at)
		r.send(at, 0, 1, 1500)
		r.RunUntil(at + ms)
		if want := at + onLink(units.Gbps) + 20*us + takes; r.log[i].at != want {
			t.Errorf("packet %d at %v, want %v", i, r.log[i].at, want)
		}
	}
}

// TestHostOverTime: a host holds back what it sends for as long as its state says, one
// time for all flows or one for each of its classes.
func TestHostOverTime(t *testing.T) {
	const base = 2 * (12304*time.Nanosecond + 10*us)
	for name, c := range map[string]struct {
		delays []time.Duration
		states []HostState
		want   []time.Duration // of packets at 0, 10 ms and 20 ms
	}{
		"none before": {nil, []HostState{{10 * ms, []time.Duration{300 * us}}, {20 * ms, []time.Duration{0}}}, []time.Duration{0, 300 * us, 0}},
		"one before":  {[]time.Duration{100 * us}, []HostState{{10 * ms, []time.Duration{us}}, {20 * ms, []time.Duration{100 * us}}}, []time.Duration{100 * us, us, 100 * us}},
		"two classes": {[]time.Duration{50 * us, 50 * us}, []HostState{{10 * ms, []time.Duration{us}}, {20 * ms, []time.Duration{60 * us, 60 * us}}}, []time.Duration{50 * us, us, 60 * us}},
	} {
		spec := star(2, units.Gbps, 10*us)
		spec.Hosts[0].Delays = c.delays
		spec.Timeline.Hosts = []HostCourse{{Host: 0, States: c.states}}
		r := begun(t, spec)
		for i, held := range c.want {
			at := time.Duration(i) * 10 * ms
			r.RunUntil(at)
			r.send(at, 0, 1, 1500)
			r.RunUntil(at + 9*ms)
			if len(r.log) != i+1 || r.log[i].at != at+held+base {
				t.Errorf("%s: packet %d: %v, want it at %v", name, i, r.log, at+held+base)
			}
		}
	}
}

// TestRatesAreTold: whoever models hosts is told when the rate of an uplink changes, and
// of nothing else.
func TestRatesAreTold(t *testing.T) {
	spec := star(2, units.Gbps, us)
	spec.Timeline.Links = slices.Concat(
		both(0, state(ms, units.Gbps, 2*us), state(2*ms, 100*units.Mbps, us), state(3*ms, units.Gbps, us)),
		[]LinkCourse{{Link: 1, Back: true, States: []LinkState{state(ms, units.Mbps, us)}}},
	)
	var told []string
	r := &rig{}
	n, err := New(&r.Loop, spec, Attachment{Edge: r, Release: r.pool.Put, Rated: func(now time.Duration, host int, rate units.Rate) {
		told = append(told, fmt.Sprint(now, host, rate))
	}})
	if err != nil {
		t.Fatal(err)
	}
	n.Begin(ms)
	r.RunUntil(time.Second)
	if want := []string{"3ms 0 100Mbps", "4ms 0 1Gbps"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// TestLookaheadOverTime: no state of the timeline may have a shorter delay than a network
// runs ahead.
func TestLookaheadOverTime(t *testing.T) {
	spec := star(3, units.Gbps, 50*us)
	spec.Timeline.Links = both(2, state(ms, units.Gbps, 7*us), state(2*ms, units.Gbps, 50*us))
	if got := newRig(t, spec).Lookahead(); got != 7*us {
		t.Errorf("%v, want 7us", got)
	}
}

// TestPauseOverTime: the words of flow control take the delay of their time.
func TestPauseOverTime(t *testing.T) {
	spec := star(3, units.Gbps, 10*us)
	spec.Pause = Pause{XOff: 20_000, XOn: 10_000}
	spec.Timeline.Links = both(0, state(50*ms, units.Gbps, 200*us))
	r := begun(t, spec)
	peak := func(at time.Duration) int {
		r.RunUntil(at)
		for range 100 {
			r.send(at, 0, 2, 1500)
			r.send(at, 1, 2, 1500)
		}
		r.RunUntil(at + 50*ms)
		return r.Ports()[0].Pauses().PeakBytes
	}
	near := peak(0)
	if far := peak(60 * ms); near >= int(Pause{XOff: 20_000}.Peak(spec.Links[0], 1538)) || far < near+20_000 {
		t.Errorf("a peak of %d bytes with 10 us, and of %d with 200 us", near, far)
	}
	if len(r.log) != 400 || r.pool.Taken() != 0 {
		t.Errorf("%d of 400 arrived", len(r.log))
	}
}

// TestPartsOverTime: switches that are networks of their own do together what the network
// that carries all of them does, while links between them flap and change their rate.
func TestPartsOverTime(t *testing.T) {
	spec := lossyFabric()
	spec.Timeline.Links = slices.Concat(
		flap(4, spec.Links[4], 500*us, 1200*us),
		both(7, state(700*us, 100*units.Mbps, 3*us), state(1500*us, units.Gbps, 3*us)),
	)
	spec.Timeline.Convergence = 100 * us
	whole, apart := newParts(t, spec, ""), newParts(t, spec, spec.Switches...)
	for _, p := range []*parts{whole, apart} {
		for _, n := range p.by {
			n.Begin(0)
		}
		p.run(t)
	}
	if len(whole.log) == 0 || !slices.Equal(whole.log, apart.log) || !reflect.DeepEqual(whole.counts, apart.counts) {
		t.Errorf("%d packets arrived by one network, %d by several", len(whole.log), len(apart.log))
	}
	cut := func(p *parts) map[string]int64 {
		all := map[string]int64{}
		for _, n := range p.by {
			for _, c := range n.Lost() {
				all[c.From+" "+c.To] += c.Cut
			}
		}
		return all
	}
	if one, several := cut(whole), cut(apart); one["l1 s1"] == 0 || one["s1 l1"] == 0 || !maps.Equal(one, several) {
		t.Errorf("lost by one network %v, by several %v", one, several)
	}
	if whole.pool.Taken() != 0 || apart.pool.Taken() != 0 {
		t.Errorf("%d and %d packets are not accounted for", whole.pool.Taken(), apart.pool.Taken())
	}
}

func TestBadTimelines(t *testing.T) {
	for want, spoil := range map[string]func(*Timeline){
		"no link has the number 9": func(l *Timeline) { l.Links = both(9) },
		"rate 0bps":                func(l *Timeline) { l.Links = both(0, state(0, 0, us)) },
		"delay -1ns":               func(l *Timeline) { l.Links = both(0, state(0, units.Gbps, -1)) },
		"no state before another":  func(l *Timeline) { l.Links = both(0, state(2, units.Gbps, 1), state(1, units.Gbps, 1)) },
		"down at different times":  func(l *Timeline) { l.Links = flap(0, Link{Rate: units.Gbps}, ms, 2*ms)[:1] },
		"no host has the number 3": func(l *Timeline) { l.Hosts = []HostCourse{{Host: 3}} },
		"host h1 at 0s: delays []": func(l *Timeline) { l.Hosts = []HostCourse{{States: []HostState{{}}}} },
		"convergence -1ns":         func(l *Timeline) { l.Convergence = -1 },
	} {
		spec := star(3, units.Gbps, us)
		spoil(&spec.Timeline)
		var loop event.Loop
		if _, err := New(&loop, spec, Attachment{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

// TestTimelineAllocatesNothing: a link that changes costs no memory a packet.
func TestTimelineAllocatesNothing(t *testing.T) {
	spec := star(2, units.Gbps, us)
	spec.Timeline.Links = both(0, state(50*ms, units.Gbps, 2*us), state(60*ms, 2*units.Gbps, 2*us))
	r := begun(t, spec)
	r.log = make([]delivery, 0, 4096)
	r.spaced(100)
	at := r.Now()
	if n := testing.AllocsPerRun(1000, func() {
		at += 100 * us
		r.send(at, 0, 1, 1500)
		r.RunUntil(at + 100*us)
	}); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
