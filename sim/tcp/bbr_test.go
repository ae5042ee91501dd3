package tcp

import (
	"testing"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// narrow is a link of 100 Mbps with a base RTT of 20 ms (167 segments) and a queue without
// end, shared by the senders of a stack.
type narrow struct {
	loop    event.Loop
	pool    packet.Pool
	senders []*Endpoint
	users   []tally
	n       []Counters
	busy    time.Duration // of the link
	longest time.Duration // wait at it, since the last look
	drop    func(k *packet.Packet) bool
}

const (
	narrowRate = 100 * units.Mbps
	narrowRTT  = 20 * ms
)

func newNarrow(t *testing.T, c Config, flows int) *narrow {
	t.Helper()
	b := &narrow{users: make([]tally, 2*flows), n: make([]Counters, 2*flows), drop: func(*packet.Packet) bool { return false }}
	c.MSS, c.RTOInit, c.RTOMin = 1448, time.Second, 200*ms
	ends := make(map[int32]*Endpoint)
	s, err := NewStack(&b.loop, &b.pool, func(now time.Duration, host int, k *packet.Packet) {
		to, at := ends[k.Dst], now+narrowRTT/2
		if host < flows {
			if b.drop(k) {
				b.pool.Put(k)
				return
			}
			b.longest = max(b.longest, b.busy-now)
			b.busy = max(b.busy, now) + narrowRate.Time(int(k.Size))
			at = b.busy + narrowRTT/2
		}
		b.loop.Schedule(event.NewTimer(func(now time.Duration) { to.Receive(now, k) }), at)
	}, c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * flows {
		here, there := int32(i), int32((i+flows)%(2*flows))
		e := s.Endpoint()
		ends[here] = e
		e.Establish(Ends{Local: here, Remote: there, Conn: int32(i % flows), Hash: uint32(i) << 20}, &b.n[i], &b.users[i])
	}
	for i := range flows {
		b.senders = append(b.senders, ends[int32(i)])
	}
	return b
}

// over runs until a time and tells which share of what fits each flow got since now.
func (b *narrow) over(until time.Duration) (shares []float64) {
	flows, from := len(b.senders), b.loop.Now()
	before := make([]int64, flows)
	for i := range flows {
		before[i] = b.users[flows+i].delivered
	}
	b.longest = 0
	b.loop.RunUntil(until)
	most := float64(narrowRate.Bytes(until-from)) * 1448 / 1500
	for i := range flows {
		shares = append(shares, float64(b.users[flows+i].delivered-before[i])/most)
	}
	return shares
}

// product is the bandwidth-delay product in bytes.
const product = int64(narrowRate) / 8 * int64(narrowRTT) / int64(time.Second)

// TestBBRFindsThePath: one flow leaves startup within a few round trips, knows the
// rate within 5 % and the round trip, has 90 % of the link and less than a
// bandwidth-delay product in the queue.
func TestBBRFindsThePath(t *testing.T) {
	b := newNarrow(t, config("bbr"), 1)
	b.senders[0].Write(0, 1<<40, Tag{})
	c := b.senders[0].control.(*bbr)
	b.loop.RunUntil(30 * narrowRTT) // which are longer in startup
	if !c.full || c.mode != bbrProbeBW {
		t.Errorf("after 30 round trips in mode %d", c.mode)
	}
	shares := b.over(9 * time.Second)
	rate := c.rate() * 8 * 1500 / 1448
	if rate < 0.95*float64(narrowRate) || rate > 1.05*float64(narrowRate) || c.shortest < narrowRTT || c.shortest > narrowRTT+ms {
		t.Errorf("knows a rate of %.0f bit/s and a round trip of %v", rate, c.shortest)
	}
	if shares[0] < 0.9 || b.longest > narrowRTT {
		t.Errorf("%.3f of the link, a queue of up to %v", shares[0], b.longest)
	}
}

// TestBBRProbesTheRoundTrip: when no round trip as short was seen for ten seconds, for
// 200 ms no more than four segments are under way.
func TestBBRProbesTheRoundTrip(t *testing.T) {
	b := newNarrow(t, config("bbr"), 2) // which keep a queue, so that it does not empty by itself
	for _, e := range b.senders {
		e.Write(0, 1<<40, Tag{})
	}
	c := b.senders[0].control.(*bbr)
	var began []time.Duration
	low := time.Duration(0)
	for now := time.Duration(0); now < 35*time.Second; now += ms {
		was := c.mode
		b.loop.RunUntil(now)
		if c.mode == bbrProbeRTT && was != bbrProbeRTT {
			began = append(began, now)
		}
		if c.mode == bbrProbeRTT && b.senders[0].rack.pipe <= 4*1448 {
			low += ms
		}
	}
	if len(began) < 2 || len(began) > 3 {
		t.Fatalf("probed at %v, want every ten seconds or more", began)
	}
	if each := low / time.Duration(len(began)); each < 200*ms || each > 300*ms {
		t.Errorf("%v with four segments, want 200 ms", each)
	}
	for i := 1; i < len(began); i++ {
		if gap := began[i] - began[i-1]; gap < 10*time.Second || gap > 12*time.Second {
			t.Errorf("probed at %v", began)
		}
	}
}

// TestBBRShares: two flows, one of which began ten seconds earlier, come to share the link
// within the minute.
func TestBBRShares(t *testing.T) {
	b := newNarrow(t, config("bbr"), 2)
	b.senders[0].Write(0, 1<<40, Tag{})
	b.loop.RunUntil(10 * time.Second)
	b.senders[1].Write(b.loop.Now(), 1<<40, Tag{})
	b.loop.RunUntil(40 * time.Second)
	s := b.over(60 * time.Second)
	if ratio := s[0] / s[1]; s[0]+s[1] < 0.9 || ratio < 0.5 || ratio > 2 {
		t.Errorf("shares %.3f", s)
	}
}

// TestBBRBearsLosses: random losses of 1 % do not take it the link (the paper's figure 8),
// which they take from CUBIC.
func TestBBRBearsLosses(t *testing.T) {
	for control, most := range map[string][2]float64{"bbr": {0.85, 1}, "cubic": {0, 0.3}} {
		b := newNarrow(t, config(control), 1)
		n := 0
		b.drop = func(k *packet.Packet) bool { n++; return k.Segment.Len > 0 && n%100 == 0 }
		b.senders[0].Write(0, 1<<40, Tag{})
		b.loop.RunUntil(2 * time.Second)
		if s := b.over(8 * time.Second)[0]; s < most[0] || s > most[1] {
			t.Errorf("%s: %.3f of the link", control, s)
		}
	}
}

// TestBBRIsLimitedByItsApplication: what the application offers is not taken for the rate
// of the path, once that is known.
func TestBBRIsLimitedByItsApplication(t *testing.T) {
	b := newNarrow(t, config("bbr"), 1)
	e := b.senders[0]
	e.Write(0, 10_000_000, Tag{}) // 0.8 s
	b.loop.RunUntil(2 * time.Second)
	c := e.control.(*bbr)
	before := c.rate()
	for range 200 { // 1.16 Mbps
		e.Write(b.loop.Now(), 1448, Tag{})
		b.loop.RunUntil(b.loop.Now() + 10*ms)
	}
	if after := c.rate(); after < before*0.9 {
		t.Errorf("knew %.0f bytes a second, and then %.0f", before, after)
	}
}
