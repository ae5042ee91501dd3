package tcp

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// TestCountsTold: RFC 9768, section 3.2.2.5.1: the first marked segment after one that
// was not is acknowledged at once, and then every second one; what comes unmarked waits
// as ever. The counter begins with 5 (section 3.2.1).
func TestCountsTold(t *testing.T) {
	c := config("prague")
	c.DelayedAck, c.AckTimeout = 6, ms
	r := newRig(t, c)
	var got [][2]int64
	for i, mark := range []bool{false, true, true, true, true, false, false, true, true, true, false, false, false, false} {
		ecn := packet.ECT1
		if mark {
			ecn = packet.CE
		}
		r.data(int64(i)*mss, mss, ecn)
		for _, k := range r.out {
			got = append(got, [2]int64{k.Segment.Ack / mss, int64(k.Segment.ACE % packet.ACECounts)})
		}
		r.out = nil
	}
	// Marks by then: 1, 3, 5 and 7.
	want := [][2]int64{{2, 6}, {4, 8}, {8, 10}, {10, 12}}
	if !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

// TestEveryMarkCountsOnce: whatever share of packets is marked and whatever
// acknowledgements are lost or late, the sender learns of each mark once, by the end;
// though its counter wraps many times.
func TestEveryMarkCountsOnce(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		c := config("prague")
		c.DelayedAck, c.AckTimeout = int(1+seed%3*20), ms
		c.ReceiveWindow = 200 * mss
		p := newPair(t, c, 50*us).establish()
		share := []float64{0.01, 0.3, 1}[seed%7%3]
		lose := []float64{0, 0.3}[seed%2]
		p.rule = func(_ time.Duration, k *packet.Packet) fate {
			if k.Segment.Len == 0 {
				return fate{drop: rng.Float64() < lose}
			}
			return fate{mark: rng.Float64() < share}
		}
		p.ends[0].Write(0, 3000*mss, Tag{})
		p.users[0].onAcked = func(now time.Duration) { p.rule = func(time.Duration, *packet.Packet) fate { return fate{} } }
		p.drain(t)
		p.ends[1].Write(p.loop.Now(), 1, Tag{}) // tells what the last ACK that was lost would have
		p.drain(t)
		if seen, told := p.n[1].CEReceived, p.n[0].ECEReceived; seen == 0 || seen != told {
			t.Errorf("seed %d: %d marks, told %d", seed, seen, told)
		}
	}
}

// TestNoFlagOfCounts: ends that count do not speak the ECE and CWR of RFC 3168 (RFC
// 9768, section 3.1).
func TestNoFlagOfCounts(t *testing.T) {
	p := newPair(t, config("prague"), 50*us).establish()
	p.rule = func(_ time.Duration, k *packet.Packet) fate {
		if k.ECE || k.Segment.Flags&packet.CWR != 0 || k.Segment.ACE < packet.ACECounts {
			t.Fatalf("%+v", k)
		}
		return fate{mark: true}
	}
	p.ends[0].Write(0, 100*mss, Tag{})
	p.drain(t)
}

// TestOthersDoNotCount: the field says nothing where ends do not count.
func TestOthersDoNotCount(t *testing.T) {
	for _, k := range Controls() {
		r := newRig(t, config(k.Name))
		r.data(0, mss, packet.CE)
		r.segments(1)
		for _, k := range r.out {
			if counts := r.stack.family.echo == echoCounts; counts != (k.Segment.ACE != 0) {
				t.Errorf("%s: ACE %d", r.stack.config.Control.Kind, k.Segment.ACE)
			}
		}
	}
}
