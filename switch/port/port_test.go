package port

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// testbed is the port of the TCN testbed: 1 Gbps, 96 KB shared by four queues.
func testbed(scheme string, params map[string]any) Spec {
	return Spec{
		Rate:      units.Gbps,
		RTTs:      aqm.OneRTT(250 * time.Microsecond),
		Queues:    4,
		Buffer:    96 * units.KB,
		Scheduler: kind.Choice{Kind: "dwrr"},
		Scheme:    kind.Choice{Kind: scheme, Params: params},
	}
}

func build(t testing.TB, spec Spec) (*Port, *packet.Pool) {
	t.Helper()
	var pool packet.Pool
	p, err := New(spec, Kinds{}, pool.Put)
	if err != nil {
		t.Fatal(err)
	}
	return p, &pool
}

func get(pool *packet.Pool, dscp uint8, size int32, ecn packet.ECN) *packet.Packet {
	k := pool.Get()
	k.DSCP, k.Size, k.ECN = dscp, size, ecn
	return k
}

func TestClassifyByDSCP(t *testing.T) {
	p, pool := build(t, testbed("droptail", nil))
	for dscp, queue := range map[uint8]int{0: 0, 1: 1, 3: 3, 4: 0, 63: 0} {
		before := p.QueueBytes(queue)
		p.Enqueue(0, get(pool, dscp, 100, packet.NotECT))
		if p.QueueBytes(queue) != before+100 {
			t.Errorf("DSCP %d did not go to queue %d", dscp, queue)
		}
	}
}

// TestBufferIsSharedFirstCome: a packet is accepted iff the port's occupancy
// plus its size fits, whatever its queue (TCN, section 6.1).
func TestBufferIsSharedFirstCome(t *testing.T) {
	p, pool := build(t, testbed("droptail", nil))
	for range 63 {
		p.Enqueue(0, get(pool, 3, 1500, packet.NotECT)) // 94,500 bytes
	}
	if p.Enqueue(0, get(pool, 0, 1501, packet.NotECT)) {
		t.Error("96,001 bytes fit a buffer of 96,000")
	}
	if !p.Enqueue(0, get(pool, 0, 1500, packet.NotECT)) {
		t.Error("96,000 bytes do not fit a buffer of 96,000")
	}
	if p.Enqueue(0, get(pool, 1, 1, packet.NotECT)) {
		t.Error("a full buffer takes a byte")
	}
	if c := p.Count(0); c.DropsFull != 1 || c.Enqueued != 1 || c.PeakBytes != 1500 {
		t.Errorf("queue 0: %+v", c)
	}
	if pool.Taken() != 64 {
		t.Errorf("%d packets out of the pool, 64 queued", pool.Taken())
	}
}

func TestMarkOnArrival(t *testing.T) {
	p, pool := build(t, testbed("dctcp-red", map[string]any{"threshold": "3000B"}))
	tests := []struct {
		ecn, want packet.ECN
		marked    int64
	}{
		{packet.ECT0, packet.ECT0, 0},     // queue holds 0
		{packet.ECT0, packet.ECT0, 0},     // 1500
		{packet.ECT0, packet.ECT0, 0},     // 3000: not above
		{packet.ECT0, packet.CE, 1},       // 4500
		{packet.ECT1, packet.CE, 2},       // both codepoints
		{packet.NotECT, packet.NotECT, 2}, // passed as it is
		{packet.CE, packet.CE, 2},         // not this port's mark
	}
	for i, tt := range tests {
		k := get(pool, 1, 1500, tt.ecn)
		if !p.Enqueue(0, k) {
			t.Fatalf("packet %d dropped", i)
		}
		if k.ECN != tt.want || p.Count(1).Marked != tt.marked {
			t.Errorf("packet %d: ECN %02b, %d marked; want %02b, %d", i, k.ECN, p.Count(1).Marked, tt.want, tt.marked)
		}
	}
}

// TestMarkOnDeparture: the sojourn time runs from joining the queue to leaving
// it, the wait for tokens included.
func TestMarkOnDeparture(t *testing.T) {
	p, pool := build(t, testbed("tcn", map[string]any{"threshold": "100us"}))
	for _, wait := range []time.Duration{0, 100 * time.Microsecond, 100*time.Microsecond + 1} {
		start := time.Second
		p.Enqueue(start, get(pool, 0, 1500, packet.ECT0))
		k, _ := p.Dequeue(start + wait)
		if marked := k.ECN == packet.CE; marked != (wait > 100*time.Microsecond) {
			t.Errorf("waited %v: marked %v", wait, marked)
		}
	}
}

func TestEmptyPort(t *testing.T) {
	p, _ := build(t, testbed("tcn", nil))
	if k, wait := p.Dequeue(0); k != nil || wait != 0 {
		t.Errorf("got %v, %v", k, wait)
	}
}

// TestLimiterSpacing: with a full bucket a packet leaves at once; then the
// departures follow the rate to the nanosecond.
func TestLimiterSpacing(t *testing.T) {
	spec := testbed("droptail", nil)
	spec.Limiter = Limiter{RateFraction: 0.995, Bucket: 2500}
	p, pool := build(t, spec)
	for range 4 {
		p.Enqueue(0, get(pool, 0, 1500, packet.NotECT))
	}
	now, departures := time.Duration(0), []time.Duration{}
	for len(departures) < 4 {
		k, wait := p.Dequeue(now)
		if k == nil {
			if wait <= now {
				t.Fatalf("at %v: ask again at %v", now, wait)
			}
			now = wait
			continue
		}
		departures = append(departures, now)
	}
	// Bucket 2500 B, packets of 1538 B on the wire, 995 Mbps: the n-th packet
	// needs n x 1538 bytes, of which 2500 are there at the start.
	for n, got := range departures {
		missing := float64((n+1)*1538 - 2500)
		want := time.Duration(math.Ceil(max(missing, 0) * 8 / 0.995))
		if got < want || got > want+1 {
			t.Errorf("packet %d left at %v, want %v: never early, at most a nanosecond late", n, got, want)
		}
	}
}

// TestLimiterStartsEmpty: the papers' kernel module begins with no tokens, so that
// the first packet leaves when those of its 1538 bytes have come, after 12.304 us at
// 1 Gbps.
func TestLimiterStartsEmpty(t *testing.T) {
	spec := testbed("droptail", nil)
	spec.Limiter = Limiter{RateFraction: 1, Bucket: 2500, StartsEmpty: true}
	p, pool := build(t, spec)
	p.Enqueue(0, get(pool, 0, 1500, packet.NotECT))
	k, again := p.Dequeue(0)
	if k != nil || again != 12304 {
		t.Fatalf("at the start %v, ask again at %v; want nothing, 12.304us", k, again)
	}
	if k, _ := p.Dequeue(again); k == nil {
		t.Error("a packet is stuck")
	}
}

// TestDroppedSpendsNoTokens: tokens are for bytes that leave. CoDel drops the second packet
// of a standing queue when its turn comes. The one behind it leaves at once, with the
// tokens that the first of two packets has left in the bucket.
func TestDroppedSpendsNoTokens(t *testing.T) {
	spec := testbed("codel", map[string]any{"target": "1ns", "interval": "1ns", "action": "drop"})
	spec.Limiter = Limiter{RateFraction: 0.5, Bucket: 2 * (1500 + packet.FrameOverhead)}
	p, pool := build(t, spec)
	for range 40 {
		p.Enqueue(0, get(pool, 0, 1500, packet.NotECT))
	}
	first, _ := p.Dequeue(time.Millisecond)
	now := time.Millisecond + 2
	second, _ := p.Dequeue(now)
	if c := p.Count(0); first == nil || second == nil || c.DropsScheme == 0 {
		t.Fatalf("sent %v and %v, dropped %d", first, second, c.DropsScheme)
	}
	// 1538 bytes at 500 Mbps after the bucket was last full.
	if k, again := p.Dequeue(now); k != nil || again != time.Millisecond+24608 {
		t.Errorf("then %v, ask again at %v", k, again)
	}
}

// TestLimiterRate: the achieved rate over a second is the configured one
// within 0.1 %, at all the rates of the papers and above.
func TestLimiterRate(t *testing.T) {
	for _, rate := range []units.Rate{100 * units.Mbps, units.Gbps, 10 * units.Gbps, 100 * units.Gbps} {
		t.Run(rate.String(), func(t *testing.T) {
			spec := testbed("droptail", nil)
			spec.Rate, spec.Limiter = rate, Limiter{RateFraction: 0.995, Bucket: 2500}
			p, pool := build(t, spec)
			wire, now := 0, time.Duration(0)
			for now < time.Second {
				if p.QueueBytes(0) == 0 {
					p.Enqueue(now, get(pool, 0, 1500, packet.NotECT))
				}
				k, wait := p.Dequeue(now)
				if k == nil {
					now = wait
					continue
				}
				wire += int(k.Size) + packet.FrameOverhead
				pool.Put(k)
			}
			got, want := float64(wire)*8, 0.995*float64(rate)
			if math.Abs(got/want-1) > 0.001 {
				t.Errorf("sent %.0f bps, want %.0f", got, want)
			}
		})
	}
}

// TestLimiterLeastBucket: a bucket that holds just a full frame lets it go when it
// is full, at rates at which it fills within a fraction of a nanosecond, too, and
// lets go a frame that is larger than it, at the same rate in the long run.
func TestLimiterLeastBucket(t *testing.T) {
	for _, rate := range []units.Rate{100 * units.Mbps, units.Gbps, 7 * units.Gbps, 10 * units.Gbps, 100 * units.Gbps} {
		for _, size := range []int32{1500, 1501, 9000} {
			spec := testbed("droptail", nil)
			spec.Rate, spec.Limiter = rate, Limiter{RateFraction: 0.995, Bucket: 1500 + packet.FrameOverhead}
			p, pool := build(t, spec)
			now, asked, sent := time.Duration(0), 0, 0
			for ; sent < 1000 && asked < 5000; asked++ {
				if p.QueueBytes(0) == 0 {
					p.Enqueue(now, get(pool, 0, size, packet.NotECT))
				}
				k, wait := p.Dequeue(now)
				if k == nil {
					now = wait
					continue
				}
				sent++
				pool.Put(k)
			}
			want := float64(sent) * float64(size+packet.FrameOverhead) * 8 / (0.995 * float64(rate))
			if sent < 1000 || math.Abs(now.Seconds()/want-1) > 0.002 {
				t.Errorf("%v, packets of %d: %d sent in %v after asking %d times, want 1000 in %.6f s", rate, size, sent, now, asked, want)
			}
		}
	}
}

// TestLimiterAsksAnew: while tokens are missing for the scheduler's choice, a
// packet that arrives may be chosen instead.
func TestLimiterAsksAnew(t *testing.T) {
	spec := testbed("droptail", nil)
	spec.Limiter = Limiter{RateFraction: 1, Bucket: 1600}
	p, pool := build(t, spec)
	p.Enqueue(0, get(pool, 0, 1500, packet.NotECT))
	if k, _ := p.Dequeue(0); k == nil {
		t.Fatal("a full bucket lets nothing go")
	}
	p.Enqueue(0, get(pool, 0, 1500, packet.NotECT))
	if _, wait := p.Dequeue(0); wait == 0 {
		t.Fatal("an empty bucket lets a packet go")
	}
	if k, _ := p.Dequeue(time.Millisecond); k == nil {
		t.Error("a packet is stuck")
	}
	// An idle time fills the bucket once, not more.
	later := time.Second
	for range 3 {
		p.Enqueue(later, get(pool, 0, 1500, packet.NotECT))
	}
	first, _ := p.Dequeue(later)
	second, wait := p.Dequeue(later)
	if first == nil || second != nil || wait <= later {
		t.Errorf("after a long idle time: %v, %v, ask again at %v", first, second, wait)
	}
}

// TestConservation drives a port at random: packets and bytes in equal those
// out, dropped and held; the occupancy never exceeds the buffer; order within
// a queue is kept.
func TestConservation(t *testing.T) {
	for _, scheme := range []string{"droptail", "dctcp-red", "tcn"} {
		t.Run(scheme, func(t *testing.T) {
			spec := testbed(scheme, nil)
			spec.Limiter = Limiter{RateFraction: 0.995, Bucket: 2500}
			p, pool := build(t, spec)
			rng := rand.New(rand.NewPCG(11, 12))
			now, in, out := time.Duration(0), 0, 0
			last := make([]uint32, 4)
			for i := range uint32(200000) {
				now += time.Duration(rng.ExpFloat64() * 6000)
				k := get(pool, uint8(rng.IntN(4)), int32(40+rng.IntN(1461)), packet.ECT0)
				k.Hash = i + 1
				in++
				p.Enqueue(now, k)
				if p.bytes > int(spec.Buffer) {
					t.Fatalf("%d bytes in a buffer of %v", p.bytes, spec.Buffer)
				}
				if k, _ := p.Dequeue(now); k != nil {
					out++
					if k.Hash <= last[k.DSCP] {
						t.Fatalf("queue %d reordered", k.DSCP)
					}
					last[k.DSCP] = k.Hash
					pool.Put(k)
				}
			}
			var c Count
			held, bytes := 0, 0
			for q := range p.Queues() {
				c.Enqueued += p.Count(q).Enqueued
				c.Sent += p.Count(q).Sent
				c.DropsFull += p.Count(q).DropsFull
				held += p.queues[q].Len()
				bytes += p.QueueBytes(q)
			}
			if c.DropsFull == 0 || int(c.Enqueued+c.DropsFull) != in || int(c.Sent) != out || int(c.Enqueued-c.Sent) != held || bytes != p.bytes || pool.Taken() != held {
				t.Errorf("%d in, %d out, %d held (%d bytes, port %d), pool %d: %+v", in, out, held, bytes, p.bytes, pool.Taken(), c)
			}
		})
	}
}

// TestTCNMarksLikeDCTCPRED: with one queue drained at a fixed rate the two
// decide alike when T = K/C (TCN, section 4.1): the bytes ahead of a packet on
// arrival are its sojourn time times the rate.
func TestTCNMarksLikeDCTCPRED(t *testing.T) {
	// Without framing a byte of the queue is a byte of the wire; the port does
	// not transmit itself, so the drain rate is ours to choose: 1500 B each
	// 12 us.
	red, redPool := build(t, testbed("dctcp-red", map[string]any{"threshold": "30KB"}))
	tcn, tcnPool := build(t, testbed("tcn", map[string]any{"threshold": "240us"}))
	const slot = 12 * time.Microsecond
	rng := rand.New(rand.NewPCG(1, 9))
	var redMarks, tcnMarks []bool
	held := 0
	for i := range time.Duration(20000) {
		now := i * slot
		for range rng.IntN(3) {
			if held < 60 {
				red.Enqueue(now, get(redPool, 0, 1500, packet.ECT0))
				tcn.Enqueue(now, get(tcnPool, 0, 1500, packet.ECT0))
				held++
			}
		}
		// The head leaves when the slot ends, after waiting a whole slot for
		// each packet that was ahead of it, so an arrival at an empty queue
		// waits none: serve at the slot's start.
		if a, _ := red.Dequeue(now); a != nil {
			b, _ := tcn.Dequeue(now)
			redMarks, tcnMarks = append(redMarks, a.ECN == packet.CE), append(tcnMarks, b.ECN == packet.CE)
			redPool.Put(a)
			tcnPool.Put(b)
			held--
		}
	}
	marked := 0
	for i := range redMarks {
		if redMarks[i] != tcnMarks[i] {
			t.Fatalf("packet %d: dctcp-red %v, tcn %v", i, redMarks[i], tcnMarks[i])
		}
		if redMarks[i] {
			marked++
		}
	}
	if marked == 0 || marked == len(redMarks) {
		t.Errorf("%d of %d marked: the test shows nothing", marked, len(redMarks))
	}
}

func TestBadSpecs(t *testing.T) {
	tests := map[string]func(*Spec){
		"rate":          func(s *Spec) { s.Rate = 0 },
		"queues":        func(s *Spec) { s.Queues = 0 },
		"buffer":        func(s *Spec) { s.Buffer = 0 },
		"rate fraction": func(s *Spec) { s.Limiter = Limiter{RateFraction: 1.5, Bucket: 2500} },
		"bucket":        func(s *Spec) { s.Limiter = Limiter{RateFraction: 1} },
		"scheduler":     func(s *Spec) { s.Scheduler.Kind = "lifo" },
		"scheme":        func(s *Spec) { s.Scheme.Kind = "blue" },
	}
	for name, spoil := range tests {
		spec := testbed("tcn", nil)
		spoil(&spec)
		if _, err := New(spec, Kinds{}, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestTakePeak(t *testing.T) {
	p, pool := build(t, testbed("droptail", nil))
	for range 3 {
		p.Enqueue(0, get(pool, 0, 1000, packet.NotECT))
	}
	p.Dequeue(0)
	p.Dequeue(0)
	if got := p.TakePeak(0); got != 3000 {
		t.Errorf("peak %d, want 3000", got)
	}
	if got := p.TakePeak(0); got != 1000 {
		t.Errorf("peak %d after it was taken, want what is queued, 1000", got)
	}
	if got := p.Count(0).PeakBytes; got != 3000 {
		t.Errorf("peak of all time %d, want 3000", got)
	}
}

func BenchmarkPort(b *testing.B) {
	for _, scheme := range []string{"droptail", "dctcp-red", "tcn"} {
		b.Run(scheme, func(b *testing.B) {
			spec := testbed(scheme, nil)
			spec.Limiter = Limiter{RateFraction: 0.995, Bucket: 2500}
			p, pool := build(b, spec)
			for i := range 32 {
				p.Enqueue(0, get(pool, uint8(i%4), 1500, packet.ECT0))
			}
			b.ReportAllocs()
			now, i := time.Duration(0), 0
			for b.Loop() {
				now += 13 * time.Microsecond
				p.Enqueue(now, get(pool, uint8(i&3), 1500, packet.ECT0))
				k, _ := p.Dequeue(now)
				pool.Put(k)
				i++
			}
		})
	}
}
