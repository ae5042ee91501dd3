package fabric

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/units"
)

// upTo is what a timeline has told by a time: the courses that begin in it, each whole.
func upTo(t Timeline, now time.Duration) Timeline {
	told := Timeline{Convergence: t.Convergence}
	for _, c := range t.Links {
		if c.States[0].At <= now {
			told.Links = append(told.Links, c)
		}
	}
	for _, c := range t.Hosts {
		if c.States[0].At <= now {
			told.Hosts = append(told.Hosts, c)
		}
	}
	return told
}

// TestFollow: a network that is told of changes one after another, each shortly before
// it happens, does what one does that knew of all of them from the beginning. Links have
// neither loss nor jitter before, and hosts hold nothing back, nor send more than their links
// carry: what an uplink was given is under way.
func TestFollow(t *testing.T) {
	spec := leafSpine()
	lossy := state(3*ms, units.Gbps, us)
	lossy.LossRate = 0.3
	whole := Timeline{
		Links: slices.Concat(
			flap(4, spec.Links[4], ms, 6*ms),
			both(0, lossy, state(5*ms, 300*units.Mbps, 40*us+7)),
			both(9, state(4*ms, 100*units.Mbps, 3*us+11), state(7*ms, units.Gbps, us)),
			flap(5, spec.Links[5], 2*ms, 3*ms),
		),
		Hosts:       []HostCourse{{Host: 1, States: []HostState{{2 * ms, []time.Duration{300*us + 13}}, {6 * ms, []time.Duration{0}}}}},
		Convergence: 100 * us,
	}
	run := func(begin func(r *rig, at time.Duration)) *rig {
		r := newRig(t, spec)
		for i := range 800 {
			at := time.Duration(i) * 10 * us
			if at%(500*us) == 0 {
				begin(r, at)
			}
			k := r.pool.Get()
			k.Src, k.Dst, k.Size, k.Hash, k.DSCP, k.PureACK = int32(i%2), int32(2+i%3%2), 1000, uint32(i)*2654435761, 0, false
			r.Send(at, i%2, k)
			r.RunUntil(at)
		}
		r.RunUntil(time.Second)
		return r
	}
	knew := run(func(r *rig, at time.Duration) {
		if at == 0 {
			r.follow(t, whole)
		}
	})
	// No two packets come to a switch in the same instant.
	told := run(func(r *rig, at time.Duration) { r.follow(t, upTo(whole, at+500*us)) })
	if len(knew.log) < 500 || !slices.Equal(told.log, knew.log) {
		t.Errorf("%d packets arrived where it was told, %d where it knew", len(told.log), len(knew.log))
	}
	if lost := knew.Lost(); len(lost) == 0 || !reflect.DeepEqual(told.Lost(), lost) {
		t.Errorf("lost %+v where it was told, %+v where it knew", told.Lost(), lost)
	}
	spec.Timeline = whole
	if r := begun(t, spec); len(r.detours) != 4 {
		t.Errorf("%d detours", len(r.detours))
	}
}

func (r *rig) follow(t *testing.T, course Timeline) {
	t.Helper()
	begin, err := r.Follow(course)
	if err != nil {
		t.Fatal(err)
	}
	begin(0)
}

// TestFollowInPlace: the timeline of the spec, which never began, is gone when another
// one is followed.
func TestFollowInPlace(t *testing.T) {
	spec := star(2, units.Gbps, us)
	spec.Timeline.Links = flap(0, spec.Links[0], 0, time.Second)
	r := newRig(t, spec)
	r.follow(t, Timeline{Links: both(1, state(0, units.Gbps, 5*us))})
	r.send(0, 0, 1, 1500)
	r.RunUntil(ms)
	if want := 2*onLink(units.Gbps) + 6*us; len(r.log) != 1 || r.log[0].at != want {
		t.Errorf("%v, want one at %v", r.log, want)
	}
}

func TestFollowRefuses(t *testing.T) {
	spec := star(3, units.Gbps, us)
	r := newRig(t, spec)
	for want, bad := range map[string]Timeline{
		"no link has the number 9": {Links: both(9)},
		"link h1 to s1 at 0s":      {Links: both(0, state(0, 0, us))},
		"no host has the number 3": {Hosts: []HostCourse{{Host: 3}}},
	} {
		if _, err := r.Follow(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

// TestPartsFollow: switches that are networks of their own follow a timeline together as
// the network does that carries all of them.
func TestPartsFollow(t *testing.T) {
	spec := lossyFabric()
	course := Timeline{Links: slices.Concat(
		flap(4, spec.Links[4], 500*us, 1200*us),
		both(7, state(700*us, 100*units.Mbps, 3*us), state(1500*us, units.Gbps, 3*us)),
	)}
	whole, apart := newParts(t, spec, ""), newParts(t, spec, spec.Switches...)
	for _, p := range []*parts{whole, apart} {
		for _, n := range p.by {
			begin, err := n.Follow(course)
			if err != nil {
				t.Fatal(err)
			}
			begin(0)
		}
		p.run(t)
	}
	if len(whole.log) == 0 || !slices.Equal(whole.log, apart.log) || !reflect.DeepEqual(whole.counts, apart.counts) {
		t.Errorf("%d packets arrived by one network, %d by several", len(whole.log), len(apart.log))
	}
}
