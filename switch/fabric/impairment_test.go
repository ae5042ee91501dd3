package fabric

import (
	"slices"
	"testing"
	"time"

	"aqmlab/units"
)

// spaced sends packets of 1500 bytes from h1 to h2, one every 100 us.
func (r *rig) spaced(n int) {
	for i := range n {
		at := time.Duration(i) * 100 * us
		r.RunUntil(at)
		r.send(at, 0, 1, 1500)
	}
	r.RunUntil(time.Duration(n)*100*us + time.Second)
}

// Of n packets a link with loss rate p loses n*p, give or take four standard
// deviations, in the directions in which they travel, and counts them.
func TestLoss(t *testing.T) {
	const packets = 20_000
	spec := star(3, units.Gbps, us)
	spec.Links[0].LossRate, spec.Links[1].LossRate = 0.01, 0.1
	r := newRig(t, spec)
	r.spaced(packets)
	lost := r.Lost()
	if len(lost) != 4 {
		t.Fatalf("%d directions may lose packets, want both of two links: %+v", len(lost), lost)
	}
	for i, want := range []struct {
		from, to  string
		low, high int64
	}{
		{"h1", "s1", 200 - 57, 200 + 57},
		{"s1", "h1", 0, 0},
		{"h2", "s1", 0, 0},
		{"s1", "h2", 1980 - 170, 1980 + 170},
	} {
		if got := lost[i]; got.From != want.from || got.To != want.to || got.Packets < want.low || got.Packets > want.high {
			t.Errorf("lost %+v, want %+v", got, want)
		}
	}
	if gone := int64(packets - len(r.log)); gone != lost[0].Packets+lost[3].Packets || r.pool.Taken() != 0 {
		t.Errorf("%d did not arrive, %d are held, lost are %+v", gone, r.pool.Taken(), lost)
	}
}

// A packet takes up to the jitter longer, any time as likely, and none overtakes
// another.
func TestJitter(t *testing.T) {
	spec := star(2, units.Gbps, 10*us)
	spec.Links[1].Jitter = 40 * us
	r := newRig(t, spec)
	const packets = 4000
	r.spaced(packets)
	if len(r.log) != packets || len(r.Lost()) != 0 {
		t.Fatalf("%d arrived of %d", len(r.log), packets)
	}
	const base = 2 * (12304*time.Nanosecond + 10*us)
	quarters := make([]int, 4)
	for i, d := range r.log {
		extra := d.at - time.Duration(i)*100*us - base
		if extra < 0 || extra > 40*us {
			t.Fatalf("packet %d was %v late, want 0 to 40us", i, extra)
		}
		quarters[min(extra/(10*us), 3)]++
	}
	for q, n := range quarters {
		if n < 850 || n > 1150 {
			t.Errorf("%d of %d in quarter %d of the jitter, want about 1000", n, packets, q)
		}
	}
}

// Back to back, packets keep their order and nothing is faster than the link.
func TestJitterKeepsOrder(t *testing.T) {
	spec := star(2, units.Gbps, 10*us)
	spec.Links[0].Jitter, spec.Links[1].Jitter = time.Millisecond, time.Millisecond
	r := newRig(t, spec)
	for i := range 200 {
		r.send(0, 0, 1, int32(100+i))
	}
	r.RunUntil(time.Second)
	if len(r.log) != 200 {
		t.Fatalf("%d arrived of 200", len(r.log))
	}
	for i, d := range r.log {
		if d.size != int32(100+i) || i > 0 && d.at < r.log[i-1].at {
			t.Fatalf("packet %d is of %d bytes at %v, after %+v", i, d.size, d.at, r.log[i-1])
		}
	}
}

// The same seed loses and delays the same packets; another one does not; and
// what one link does changes nothing for another.
func TestChanceIsSeeded(t *testing.T) {
	run := func(seed uint64, change func(*Spec)) []delivery {
		spec := star(4, units.Gbps, us)
		spec.Seed = seed
		spec.Links[0].LossRate, spec.Links[0].Jitter = 0.2, 20*us
		change(&spec)
		r := newRig(t, spec)
		r.spaced(500)
		return r.log
	}
	same := func(*Spec) {}
	first := run(7, same)
	if !slices.Equal(first, run(7, same)) {
		t.Error("the same seed gave another result")
	}
	if slices.Equal(first, run(8, same)) {
		t.Error("another seed gave the same result")
	}
	if !slices.Equal(first, run(7, func(s *Spec) { s.Links[2].LossRate = 0.5 })) {
		t.Error("the loss of an idle link changed the result")
	}
}

// A link of chance costs no memory a packet.
func TestChanceAllocatesNothing(t *testing.T) {
	spec := star(2, units.Gbps, us)
	spec.Links[0].LossRate, spec.Links[0].Jitter = 0.1, us
	r := newRig(t, spec)
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

// Words of flow control take the link's delay, data up to the jitter longer.
func TestPeakHoldsJitter(t *testing.T) {
	p := Pause{XOff: 10_000, XOn: 8000}
	l := Link{Rate: units.Gbps, Delay: 10 * us}
	without := p.Peak(l, 1500)
	l.Jitter = 80 * us // 10,000 bytes at 1 Gbps
	if got := p.Peak(l, 1500); got != without+10_000 {
		t.Errorf("peak of %v with jitter, %v without", got, without)
	}
}
