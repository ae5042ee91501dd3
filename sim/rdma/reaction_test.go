package rdma

import (
	"math"
	"testing"
	"time"

	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

const us = time.Microsecond

// TestReaction works the equations of the DCQCN paper, section 3.1, by hand, at
// 40 Gbps with the paper's parameters. Events: c a notification, t the timer, b
// the byte counter. No alpha timer expires, so alpha stays 1 and a cut halves.
func TestReaction(t *testing.T) {
	type want struct{ rate, target float64 } // Mbps, after the event
	for name, tt := range map[string]struct {
		events string
		want   []want
	}{
		"five rounds of fast recovery go back to the rate before the cut": {"cttttt", []want{
			{20000, 40000}, {30000, 40000}, {35000, 40000}, {37500, 40000}, {38750, 40000}, {39375, 40000},
		}},
		"the byte counter's rounds count alike": {"cbbbbb", []want{
			{20000, 40000}, {30000, 40000}, {35000, 40000}, {37500, 40000}, {38750, 40000}, {39375, 40000},
		}},
		"then additive increase": {"cctttttttt", []want{
			{20000, 40000}, {10000, 20000},
			{15000, 20000}, {17500, 20000}, {18750, 20000}, {19375, 20000}, {19687.5, 20000},
			{19863.75, 20040}, {19971.875, 20080}, {20045.9375, 20120},
		}},
		"fast recovery ends with the fifth round of either": {"cctbtbtbtbtb", []want{
			{20000, 40000}, {10000, 20000},
			{15000, 20000}, {17500, 20000}, {18750, 20000}, {19375, 20000}, {19687.5, 20000},
			{19843.75, 20000}, {19921.875, 20000}, {19960.9375, 20000},
			{19980.46875, 20000}, {20010.234375, 20040}, // the fifth of the timer, and what comes next
		}},
		"another notification starts anew from the rate": {"ccttc", []want{
			{20000, 40000}, {10000, 20000}, {15000, 20000}, {17500, 20000}, {8750, 17500},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := transport.DefaultDCQCN()
			r := start(&p, 40*units.Gbps)
			for i, e := range tt.events {
				fire(&r, e)
				if got := (want{float64(r.rate) / 1e6, float64(r.target) / 1e6}); math.Abs(got.rate-tt.want[i].rate) > 1e-5 || got.target != tt.want[i].target {
					t.Errorf("after %s: %v Mbps, want %v", tt.events[:i+1], got, tt.want[i])
				}
			}
		})
	}
}

func fire(r *reaction, event rune) {
	switch event {
	case 'c':
		r.notified(0)
	case 't':
		r.ticked()
	case 'b':
		r.sent(int(r.p.ByteCounter))
	}
}

// TestHyperIncrease: once both counters have had more than five rounds, the
// target grows by 400 Mbps. Of the 12 rounds before that, five are fast recovery
// and seven additive increase (one of the timer's, six of the byte counter's).
func TestHyperIncrease(t *testing.T) {
	p := transport.DefaultDCQCN()
	r := start(&p, 40*units.Gbps)
	for _, e := range "cc" + "tttttt" + "bbbbbb" {
		fire(&r, e)
	}
	if want := 20*units.Gbps + 7*p.RAI; r.target != want {
		t.Errorf("target before hyper increase %v, want %v", r.target, want)
	}
	for i, e := range "tbtb" {
		before := r.rate
		fire(&r, e)
		target := 20*units.Gbps + 7*p.RAI + units.Rate(i+1)*p.RHAI
		if want := (before + target + 1) / 2; r.target != target || r.rate != want {
			t.Errorf("round %d: rate %v, target %v, want %v, %v", i, r.rate, r.target, want, target)
		}
	}
}

// TestAlpha: alpha decays by 1-g for every alpha timer since the last
// notification, and a notification adds g(1-alpha). With g = 1/2 it is exact.
func TestAlpha(t *testing.T) {
	p := transport.DefaultDCQCN()
	p.G = 0.5
	r := start(&p, 40*units.Gbps)
	for _, tt := range []struct {
		at    time.Duration
		cutBy float64 // alpha/2
		alpha float64 // after it
	}{
		{time.Second, 0.5, 1},                                   // none before the first notification
		{time.Second + 165*us, 0.0625, 0.5625},                  // three decays: 1/8
		{time.Second + 165*us + 54999, 0.28125, 0.78125},        // none
		{time.Second + 275*us, 0.390625 / 2, 0.6953125},         // one: it ran from the last notification
		{time.Second + 385*us - 1, 0.34765625 / 2, 0.673828125}, // one again
		{time.Hour, 0, 0.5},
	} {
		before := r.rate
		r.notified(tt.at)
		if want := units.Rate(float64(before) * (1 - tt.cutBy)); max(r.rate-want, want-r.rate) > 1 || math.Abs(r.alpha-tt.alpha) > 1e-9 {
			t.Errorf("at %v: rate %v (want %v), alpha %v (want %v)", tt.at, r.rate, want, r.alpha, tt.alpha)
		}
	}
}

// TestPaperAlpha: with the paper's g one alpha timer takes 1/256 off.
func TestPaperAlpha(t *testing.T) {
	p := transport.DefaultDCQCN()
	r := start(&p, 40*units.Gbps)
	r.notified(0)
	r.notified(55 * us)
	if want := units.Rate(20e9 * (1 - 255./512)); r.rate != want || math.Abs(r.alpha-(255./256*255/256+1./256)) > 1e-12 {
		t.Errorf("rate %v, want %v; alpha %v", r.rate, want, r.alpha)
	}
}

// TestRateBounds: the rate falls to the least one at most, comes back to line
// rate exactly, and above that there is nothing.
func TestRateBounds(t *testing.T) {
	p := transport.DefaultDCQCN()
	r := start(&p, 10*units.Gbps)
	if r.limited() || r.sent(1<<40) {
		t.Error("a flow starts at line rate, without rounds")
	}
	for range 100 {
		r.notified(0)
	}
	if r.rate != p.MinRate {
		t.Errorf("cut to %v, want %v", r.rate, p.MinRate)
	}
	rounds := 0
	for ; r.limited() && rounds < 10000; rounds++ {
		fire(&r, rune("tb"[rounds%2]))
	}
	if r.rate != 10*units.Gbps || r.target != 10*units.Gbps || rounds > 200 {
		t.Errorf("%v with target %v after %d rounds", r.rate, r.target, rounds)
	}
}

// TestByteCounter: a round ends when its bytes have been sent, and what is sent
// beyond them counts for the next.
func TestByteCounter(t *testing.T) {
	p := transport.DefaultDCQCN()
	p.ByteCounter = 10_000
	r := start(&p, 10*units.Gbps)
	r.notified(0)
	var raised []int
	for i := range 20 {
		if r.sent(1500) {
			raised = append(raised, i+1)
		}
	}
	if len(raised) != 3 || raised[0] != 7 || raised[1] != 14 || raised[2] != 20 {
		t.Errorf("rounds ended with packets %v, want 7 (10.5 KB), 14 (21 KB) and 20 (30 KB)", raised)
	}
}
