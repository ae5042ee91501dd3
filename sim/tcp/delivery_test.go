package tcp

import (
	"math/rand/v2"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// chaos is a link that drops, marks and delays at random, in both directions,
// and writes in both directions.
type chaos struct {
	control          string
	recovery         string
	seed             uint64
	drop, mark, late float64 // probabilities
	delayed          int     // segments an ACK
	window           int64
	open             bool // by a handshake
}

// run sends messages both ways until all is acknowledged, and checks that every
// byte was delivered once and nothing is left over.
func (c chaos) run(t *testing.T) {
	t.Helper()
	rng := rand.New(rand.NewPCG(c.seed, 7))
	conf := config(c.control)
	conf.LossRecovery = c.recovery
	conf.DelayedAck, conf.AckTimeout, conf.ReceiveWindow = c.delayed, 200*us, c.window
	conf.RTOMax = 80 * ms
	p := newPair(t, conf, 50*us)
	p.rule = func(_ time.Duration, k *packet.Packet) fate {
		f := fate{drop: rng.Float64() < c.drop, mark: rng.Float64() < c.mark}
		if rng.Float64() < c.late {
			f.late = time.Duration(rng.IntN(300)) * us
		}
		return f
	}
	if c.open {
		p.open()
	} else {
		p.establish()
	}
	want := [2]int64{}
	write := func(now time.Duration, i int) {
		n := 1 + rng.Int64N(60*mss)
		want[1-i] += n
		p.ends[i].Write(now, n, Tag{})
	}
	for i := range p.users {
		left := rng.IntN(8)
		p.users[i].onAcked = func(now time.Duration) {
			if left--; left > 0 {
				write(now, i)
			}
		}
		p.users[1-i].onDelivered = func(time.Duration, int64) {
			if p.users[1-i].delivered > want[1-i] {
				t.Fatalf("%+v: delivered %d, written %d", c, p.users[1-i].delivered, want[1-i])
			}
		}
		write(0, i)
	}
	p.drain(t)
	for i := range p.users {
		if p.users[i].delivered != want[i] {
			t.Errorf("%+v: end %d was delivered %d, written were %d", c, i, p.users[i].delivered, want[i])
		}
		if e := p.ends[i]; e.una != e.stream.end || len(e.rcv.held.runs) != 0 || len(e.board.sacked.runs) != 0 || e.rcv.blocks != 0 {
			t.Errorf("%+v: end %d has something left: %+v", c, i, e.board)
		}
		if s := &p.ends[i].rack.transit; s.head != s.tail || s.oldest != none || s.newest != none || s.pipe != 0 || s.sacked != 0 || s.lost != 0 {
			t.Errorf("%+v: end %d has something under way: %+v", c, i, s)
		}
	}
}

// TestDelivery: whatever is lost, late or marked, every byte arrives once and in
// order, all packets return to the pool, and no alarm stays set.
func TestDelivery(t *testing.T) {
	for _, control := range Controls().Names() {
		for seed := range uint64(120) {
			chaos{
				control: control, recovery: recoveryFor(control, recoveries[seed/60]), seed: seed,
				drop:    []float64{0, 0.001, 0.02, 0.1, 0.5}[seed%5],
				mark:    []float64{0, 0.1, 1}[seed%3],
				late:    []float64{0, 0.05, 0.5}[seed%7%3],
				delayed: int(1 + seed%2), window: []int64{0, 5 * mss}[seed%11/10], open: seed%4 == 0,
			}.run(t)
		}
	}
}

// TestDeterminism: the same seed gives the same run.
func TestDeterminism(t *testing.T) {
	play := func() (now time.Duration, n [2]Counters) {
		rng := rand.New(rand.NewPCG(4, 2))
		p := newPair(t, config("dctcp"), 50*us).establish()
		p.rule = func(time.Duration, *packet.Packet) fate {
			return fate{drop: rng.Float64() < 0.03, mark: rng.Float64() < 0.2}
		}
		p.ends[0].Write(0, 3000*mss, Tag{})
		p.drain(t)
		return p.loop.Now(), p.n
	}
	now, n := play()
	if again, m := play(); again != now || m != n || n[0].FastRecoveries == 0 {
		t.Errorf("%v, %+v and then %v, %+v", now, n, again, m)
	}
}

// FuzzDelivery: as TestDelivery, for any loss below a certain one. A quarter of
// what is sent is lost at most, so that back-off ends the run in time.
func FuzzDelivery(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint8(0), uint8(0), uint8(0))
	f.Add(uint64(2), uint8(255), uint8(128), uint8(255), uint8(1))
	f.Add(uint64(3), uint8(20), uint8(255), uint8(10), uint8(6))
	f.Add(uint64(4), uint8(200), uint8(10), uint8(100), uint8(64+6))
	f.Fuzz(func(t *testing.T, seed uint64, drop, mark, late, kinds uint8) {
		names := Controls().Names()
		control := names[int(kinds)%len(names)]
		chaos{
			control: control, recovery: recoveryFor(control, recoveries[kinds/64%2]), seed: seed,
			drop: float64(drop) / 1024, mark: float64(mark) / 255, late: float64(late) / 255,
			delayed: 1 + int(kinds/4)%3, window: int64(kinds/16%2) * 3 * mss, open: kinds/32%2 == 1,
		}.run(t)
	})
}
