package port

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// variants are specs that a port may change between while it runs: every scheme, every
// scheduler, other numbers of queues, buffers, limiters.
func variants() []Spec {
	var all []Spec
	for i, scheme := range schemes() {
		for j, scheduler := range append(schedulers(), kind.Choice{Kind: "fifo"}) {
			spec := testbed(scheme.Kind, scheme.Params)
			spec.Scheduler, spec.Queues = scheduler, []int{4, 16, 2}[(i+j)%3]
			if scheduler.Kind == "fifo" {
				spec.Queues = 1
			}
			if (i+j)%4 == 0 {
				spec.Buffer = 30 * units.KB
			}
			if (i+j)%5 == 0 {
				spec.Limiter = Limiter{RateFraction: 0.9, Bucket: 2500}
			}
			if !lacksQueues(spec) {
				all = append(all, spec)
			}
		}
	}
	return all
}

// TestChangeKeepsPackets changes a busy port again and again, between all schemes and
// schedulers. No change loses, drops or reorders a packet of a flow, or makes it forget
// since when it waits. What the queues have counted goes on, and the port always lets go
// what it holds.
func TestChangeKeepsPackets(t *testing.T) {
	all := variants()
	rng := rand.New(rand.NewPCG(5, 6))
	spec := all[0]
	l := &ledger{t: t, pool: &packet.Pool{}}
	p, err := New(spec, Kinds{}, l.release)
	if err != nil {
		t.Fatal(err)
	}
	var now time.Duration
	seq, last, since := uint32(0), map[uint32]uint32{}, map[uint32]time.Duration{}
	send := func() bool {
		k, wait := p.Dequeue(now)
		if k == nil {
			now = max(now, wait)
			return wait > 0
		}
		if n := k.Segment.Seq; uint32(n) <= last[k.Hash] {
			t.Fatalf("%+v: flow %d is reordered", spec, k.Hash)
		}
		last[k.Hash] = uint32(k.Segment.Seq)
		if k.Enqueued != since[uint32(k.Segment.Seq)] {
			t.Fatalf("%+v: a packet waits since %v, not %v", spec, k.Enqueued, since[uint32(k.Segment.Seq)])
		}
		l.sent(k, true)
		return true
	}
	for range 1500 {
		for range rng.IntN(60) {
			now += time.Duration(rng.IntN(int(12 * time.Microsecond)))
			seq++
			k := get(l.pool, uint8(rng.IntN(20)), int32(40+rng.IntN(1461)), packet.ECT0)
			k.Hash, k.Segment.Seq = uint32(k.DSCP), int64(seq)
			since[seq] = now
			l.in.add(k)
			p.Enqueue(now, k)
			if rng.IntN(10) > 3 {
				send()
			}
		}
		held, before := l.pool.Taken(), total(p)
		to := all[rng.IntN(len(all))]
		change, err := p.Change(spec, to, Kinds{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if change(now); l.pool.Taken() != held || p.Queues() != to.Queues {
			t.Fatalf("%+v to %+v: %d packets of %d, in %d queues", spec, to, l.pool.Taken(), held, p.Queues())
		}
		if after := total(p); after != before {
			t.Fatalf("counted %+v, and then %+v", before, after)
		}
		spec = to
	}
	for send() {
	}
	if p.Bytes() != 0 || p.memory.bytes != 0 || l.pool.Taken() != 0 {
		t.Errorf("%d bytes, %d of memory, %d packets are left", p.Bytes(), p.memory.bytes, l.pool.Taken())
	}
	if l.in.packets != l.out.packets+l.dropped.packets || l.marked == 0 {
		t.Errorf("in %+v, out %+v, dropped %+v, marked %d", l.in, l.out, l.dropped, l.marked)
	}
}

// total adds up what the queues of a port have counted, but for peaks.
func total(p *Port) (sum Count) {
	for q := range p.Queues() {
		c := p.Count(q)
		sum.Enqueued, sum.Sent, sum.SentBytes = sum.Enqueued+c.Enqueued, sum.Sent+c.Sent, sum.SentBytes+c.SentBytes
		sum.Marked, sum.Waited = sum.Marked+c.Marked, sum.Waited+c.Waited
		sum.DropsFull, sum.DropsScheme = sum.DropsFull+c.DropsFull, sum.DropsScheme+c.DropsScheme
	}
	return sum
}

// TestChangeMovesPackets: packets move to the queues of their DSCPs, in the order in
// which they came, and keep what the scheme before did to them. A scheme alone leaves
// the scheduler as it is.
func TestChangeMovesPackets(t *testing.T) {
	one := testbed("dctcp-red", map[string]any{"threshold": "1000B"})
	one.Queues, one.Scheduler = 1, kind.Choice{Kind: "fifo"}
	p, pool := build(t, one)
	for i := range 6 {
		p.Enqueue(time.Duration(i), get(pool, uint8(i%3), 1000, packet.ECT0))
	}
	four := testbed("droptail", nil)
	four.Scheduler, four.Buffer = kind.Choice{Kind: "sp"}, 3000
	change, err := p.Change(one, four, Kinds{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Queues() != 1 {
		t.Error("it changes before it is told to")
	}
	change(10)
	for q, want := range []int{2000, 2000, 2000, 0} {
		if got := p.QueueBytes(q); got != want {
			t.Errorf("%d bytes in queue %d, want %d", got, q, want)
		}
	}
	if c := p.Count(0); c.Enqueued != 6 || c.Marked != 4 {
		t.Errorf("queue 0 has counted %+v before", c)
	}
	if p.Enqueue(11, get(pool, 0, 100, packet.ECT0)) {
		t.Error("the smaller buffer takes another packet")
	}
	scheduler := p.scheduler
	tcn := four
	tcn.Scheme = kind.Choice{Kind: "tcn", Params: map[string]any{"threshold": "1us"}}
	if change, err = p.Change(four, tcn, Kinds{}, nil); err != nil {
		t.Fatal(err)
	}
	if change(12); p.scheduler != scheduler {
		t.Error("another scheme changes the scheduler")
	}
	var left []string
	for k, _ := p.Dequeue(2 * time.Microsecond); k != nil; k, _ = p.Dequeue(2 * time.Microsecond) {
		left = append(left, fmt.Sprintf("%d:%v:%d", k.DSCP, k.Enqueued, k.ECN))
	}
	if got, want := strings.Join(left, " "), "0:0s:3 0:3ns:3 1:1ns:3 1:4ns:3 2:2ns:3 2:5ns:3"; got != want {
		t.Errorf("left %s, want %s", got, want)
	}
}

// TestChangeRefuses: what New refuses is refused, and nothing happens.
func TestChangeRefuses(t *testing.T) {
	from := testbed("droptail", nil)
	p, _ := build(t, from)
	scheme, scheduler, sharing := from, from, from
	scheme.Scheme.Kind, scheduler.Scheduler.Kind, sharing.Sharing.Kind = "tnc", "drwr", "fair"
	for want, to := range map[string]Spec{`"tnc"`: scheme, `"drwr"`: scheduler, `"fair"`: sharing} {
		if _, err := p.Change(from, to, Kinds{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want one that says %s", err, want)
		}
	}
}

// TestChangeOfPool: ports that share a pool draw from another one once they have
// changed, with what they hold.
func TestChangeOfPool(t *testing.T) {
	from := shared(kind.Choice{Kind: "pool"}, 10*units.KB)
	pool, packets := NewPool(from.Buffer), &packet.Pool{}
	var ports []*Port
	for range 2 {
		p, err := NewInPool(from, Kinds{}, pool, packets.Put)
		if err != nil {
			t.Fatal(err)
		}
		p.Enqueue(0, get(packets, 0, 4000, packet.ECT0))
		ports = append(ports, p)
	}
	to := from
	to.Buffer = 20 * units.KB
	larger := NewPool(to.Buffer)
	for i, p := range ports {
		change, err := p.Change(from, to, Kinds{}, larger)
		if err != nil {
			t.Fatal(err)
		}
		if change(0); larger.Bytes() != 4000*(i+1) || pool.Bytes() != 4000*(1-i) {
			t.Errorf("%d and %d bytes after %d changes", pool.Bytes(), larger.Bytes(), i+1)
		}
	}
}
