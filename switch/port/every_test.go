package port

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// schemes are all schemes of the table, and those of their forms that drop.
func schemes() []kind.Choice {
	var all []kind.Choice
	for _, name := range aqm.Table().Names() {
		all = append(all, kind.Choice{Kind: name})
	}
	return append(all,
		kind.Choice{Kind: "red", Params: map[string]any{"ecn": false, "weight": 0.25}},
		kind.Choice{Kind: "codel", Params: map[string]any{"action": "drop", "target": "20us", "interval": "200us"}},
		kind.Choice{Kind: "pie", Params: map[string]any{"target": "50us", "tupdate": "50us", "max_burst": "0s", "alpha": 50, "beta": 500}},
		kind.Choice{Kind: "ecn-sharp", Params: map[string]any{"arithmetic": "tofino"}},
	)
}

// every calls do for every scheme under every scheduler, with that many queues
// (one for fifo).
func every(t *testing.T, queues int, do func(t *testing.T, spec Spec)) {
	for _, scheduler := range append(schedulers(), kind.Choice{Kind: "fifo"}) {
		for _, scheme := range schemes() {
			spec := testbed(scheme.Kind, maps.Clone(scheme.Params))
			spec.Scheduler, spec.Queues = scheduler, queues
			if scheduler.Kind == "fifo" {
				spec.Queues = 1
			}
			if lacksQueues(spec) {
				continue
			}
			t.Run(fmt.Sprint(spec.Queues, scheduler, scheme), func(t *testing.T) { do(t, spec) })
		}
	}
}

// lacksQueues tells that a scheme couples two queues and the scheduler has one.
func lacksQueues(s Spec) bool {
	return s.Scheme.Kind == "dualpi2" && (s.Scheduler.Kind == "fifo" || s.Scheduler.Kind == "aifo")
}

// ledger adds up by its own account what a port does with packets of two kinds,
// ECN-capable and not.
type ledger struct {
	t           *testing.T
	pool        *packet.Pool
	in, dropped tally
	out         tally
	marked      int
}

func (l *ledger) release(k *packet.Packet) {
	l.dropped.add(k)
	l.pool.Put(k)
}

func (l *ledger) sent(k *packet.Packet, capable bool) {
	l.out.add(k)
	switch {
	case k.ECN == packet.CE && !capable:
		l.t.Fatal("a packet that is not ECN-capable is marked")
	case k.ECN == packet.CE:
		l.marked++
	}
	l.pool.Put(k)
}

func (y *tally) add(k *packet.Packet) {
	y.packets++
	y.bytes += int(k.Size)
}

// TestEverySchemeConserves drives every scheme under every scheduler with 16
// queues at random. Packets and bytes in equal those sent, dropped and held; a
// port with packets always has one to send (or to drop on the way); the buffer
// is never exceeded; each queue keeps its order; only ECN-capable packets are
// marked.
func TestEverySchemeConserves(t *testing.T) {
	marked, dropped := map[string]int{}, map[string]int{}
	every(t, 16, func(t *testing.T, spec Spec) {
		l := &ledger{t: t, pool: &packet.Pool{}}
		p, err := New(spec, Kinds{}, l.release)
		if err != nil {
			t.Fatal(err)
		}
		p.conserve(spec, l)
		var held tally
		var c Count
		for q := range p.Queues() {
			held.packets += p.queues[q].Len()
			held.bytes += p.QueueBytes(q)
			n := p.Count(q)
			c.Sent, c.SentBytes, c.Marked = c.Sent+n.Sent, c.SentBytes+n.SentBytes, c.Marked+n.Marked
			c.DropsFull, c.DropsScheme = c.DropsFull+n.DropsFull, c.DropsScheme+n.DropsScheme
		}
		if l.in.packets != l.out.packets+l.dropped.packets+held.packets || l.in.bytes != l.out.bytes+l.dropped.bytes+held.bytes || held.bytes != p.Bytes() || l.pool.Taken() != held.packets {
			t.Errorf("in %+v, out %+v, dropped %+v, held %+v, %d bytes in the port", l.in, l.out, l.dropped, held, p.Bytes())
		}
		if int(c.Sent) != l.out.packets || int(c.SentBytes) != l.out.bytes || int(c.DropsFull+c.DropsScheme) != l.dropped.packets || int(c.Marked) < l.marked {
			t.Errorf("out %+v, dropped %+v, %d marked; counted %+v", l.out, l.dropped, l.marked, c)
		}
		marked[spec.Scheme.Kind] += l.marked
		dropped[spec.Scheme.Kind] += int(c.DropsScheme)
	})
	for _, c := range capabilities() {
		if marks := c.capable == MarkedOnArrival || c.capable == MarkedOnDeparture; marks && marked[c.scheme] == 0 {
			t.Errorf("%s marked nothing: the test shows nothing", c.scheme)
		}
		if c.other.Dropped() && dropped[c.scheme] == 0 {
			t.Errorf("%s dropped nothing: the test shows nothing", c.scheme)
		}
	}
}

// conserve offers a port a tenth more than it sends, in bursts, and leaves it
// with packets. A packet's hash is its number, even for one that is ECN-capable.
func (p *Port) conserve(spec Spec, l *ledger) {
	rng := rand.New(rand.NewPCG(21, 22))
	last := make([]uint32, spec.Queues) // a flow of its own for each packet: flows may pass each other
	var arrives, free time.Duration
	for i := range uint32(3000) {
		arrives += time.Duration(rng.ExpFloat64() * 6000)
		for free = max(free, 0); free <= arrives && p.Bytes() > 0; {
			k, wait := p.Dequeue(free)
			if k == nil {
				if p.Bytes() > 0 || wait != 0 {
					l.t.Fatalf("%d bytes wait, and nothing leaves before %v", p.Bytes(), wait)
				}
				break
			}
			free += spec.Rate.Time(int(k.Size) + packet.FrameOverhead)
			if q := k.Class(p.Queues()); k.Hash <= last[q] && !p.sorted {
				l.t.Fatalf("queue %d reordered", q)
			} else {
				last[q] = k.Hash
			}
			l.sent(k, k.Hash%2 == 0)
		}
		free = max(free, arrives)
		k := get(l.pool, uint8(rng.IntN(spec.Queues)), int32(40+rng.IntN(1461)), packet.ECN(2-2*(i%2)))
		k.Hash = i + 2
		l.in.add(k)
		p.Enqueue(arrives, k)
		if p.Bytes() > int(spec.Buffer) {
			l.t.Fatalf("%d bytes in a buffer of %v", p.Bytes(), spec.Buffer)
		}
	}
}

// TestNothingIsAllocated: a packet through a port whose queues are all busy
// costs no allocation, whatever the scheme and scheduler, with 8 and 64 queues.
func TestNothingIsAllocated(t *testing.T) {
	for _, queues := range []int{8, 64} {
		every(t, queues, func(t *testing.T, spec Spec) {
			spec.Buffer = 10 * units.MB
			spec.Limiter = Limiter{RateFraction: 0.995, Bucket: 2500}
			p, pool := build(t, spec)
			now, i := time.Duration(0), 0
			step := func() {
				now += 13 * time.Microsecond
				p.Enqueue(now, get(pool, uint8(i%spec.Queues), 1500, packet.ECT0))
				if k, _ := p.Dequeue(now); k != nil {
					pool.Put(k)
				}
				i++
			}
			for range 4 * spec.Queues {
				p.Enqueue(0, get(pool, uint8(i%spec.Queues), 1500, packet.ECT0))
				i++
			}
			for range 40 * spec.Queues { // rings of ranks grow to the longest that a queue gets
				step()
			}
			if n := testing.AllocsPerRun(200, step); n != 0 {
				t.Errorf("%v allocations a packet", n)
			}
		})
	}
}
