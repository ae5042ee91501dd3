package fabric

import (
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/units"
)

// paths sends a packet of each of n flows from h1 to the last host at a time, and says
// which spine each took; "" is none.
func (r *rig) paths(at time.Duration, n uint32) []string {
	took := make([]string, n)
	for hash := range n {
		before := r.sent()
		k := r.pool.Get()
		k.Dst, k.Size, k.Hash, k.DSCP = 3, 1000, hash*2654435761, 0
		r.Send(at, 0, k)
		at += 50 * us
		r.RunUntil(at)
		for i, p := range r.Ports() {
			if p.Switch == "l1" && strings.HasPrefix(p.Far, "p") && r.sent()[i] > before[i] {
				took[hash] = p.Far
			}
		}
	}
	return took
}

// sent is how many packets each port has sent.
func (r *rig) sent() []int64 {
	var all []int64
	for _, p := range r.Ports() {
		all = append(all, p.Count(0).Sent)
	}
	return all
}

// TestRoutesFollow: flows leave a spine whose link is down, whether that is the link of
// their own leaf or of the other one, and all are back when it is up again.
func TestRoutesFollow(t *testing.T) {
	for _, link := range []int{4, 8} { // l1 to p1, l2 to p1
		spec := leafSpine()
		spec.Timeline.Links = flap(link, spec.Links[link], 100*ms, 200*ms)
		r := begun(t, spec)
		const flows = 400
		before, while, after := r.paths(0, flows), r.paths(110*ms, flows), r.paths(210*ms, flows)
		if !slices.Contains(before, "p1") || slices.Contains(while, "p1") || !slices.Equal(before, after) {
			t.Errorf("link %d: flows were not on p1 before, on it meanwhile, or are elsewhere after", link)
		}
		for _, spine := range []string{"p2", "p3", "p4"} {
			if !slices.Contains(while, spine) {
				t.Errorf("link %d: no flow was on %s meanwhile", link, spine)
			}
		}
		if len(r.log) != 3*flows || r.pool.Taken() != 0 {
			t.Errorf("link %d: %d of %d arrived, lost %+v", link, len(r.log), 3*flows, r.Lost())
		}
	}
}

// TestRoutesConverge: until routes follow, flows go on to the link that is down, and lose
// all that they send.
func TestRoutesConverge(t *testing.T) {
	spec := leafSpine()
	spec.Timeline.Links = flap(4, spec.Links[4], 100*ms, 200*ms)
	spec.Timeline.Convergence = 50 * ms
	r := begun(t, spec)
	const flows = 400 // for 20 ms
	before, while := r.paths(0, flows), r.paths(110*ms, flows)
	if !slices.Equal(before, while) {
		t.Error("routes followed before the time")
	}
	var lost int64
	for _, spine := range while {
		if spine == "p1" {
			lost++
		}
	}
	if l := r.Lost(); lost == 0 || l[0].From != "l1" || l[0].To != "p1" || l[0].Cut != lost {
		t.Errorf("lost %+v, want %d from l1 to p1", l, lost)
	}
	if slices.Contains(r.paths(160*ms, flows), "p1") {
		t.Error("routes have not followed")
	}
	if !slices.Equal(r.paths(260*ms, flows), before) {
		t.Error("routes have not come back")
	}
}

// TestLongerPath: where no shortest path is left, packets take a longer one, and where
// there is none at all they are lost on the link that is down.
func TestLongerPath(t *testing.T) {
	spec := star(2, units.Gbps, us)
	spec.Switches = []string{"a", "b", "c"}
	spec.Links = []Link{{A: "h1", B: "a"}, {A: "h2", B: "b"}, {A: "a", B: "b"}, {A: "a", B: "c"}, {A: "c", B: "b"}}
	for i := range spec.Links {
		spec.Links[i].Rate, spec.Links[i].Delay = units.Gbps, us
	}
	spec.Timeline.Links = slices.Concat(flap(2, spec.Links[2], ms, 4*ms), flap(4, spec.Links[4], 2*ms, 3*ms))
	r := begun(t, spec)
	var want []time.Duration
	for at, links := range []time.Duration{3, 4, 0, 4, 3} { // 0: lost
		sent := time.Duration(at)*ms + 100*us
		r.RunUntil(sent)
		r.send(sent, 0, 1, 1500)
		if links > 0 {
			want = append(want, sent+links*(onLink(units.Gbps)+us))
		}
	}
	r.RunUntil(time.Second)
	for i, d := range r.log {
		if i >= len(want) || d.at != want[i] {
			t.Errorf("packet %d at %v, want %v", i, d.at, want)
		}
	}
	var cut int64
	for _, l := range r.Lost() {
		cut += l.Cut
	}
	if len(r.log) != len(want) || cut != 1 || r.pool.Taken() != 0 {
		t.Errorf("%d arrived, %d lost, want %d and 1", len(r.log), cut, len(want))
	}
}
