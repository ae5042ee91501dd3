package port

import (
	"fmt"
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

// ports builds n ports of a switch on one pool.
func ports(t testing.TB, n int, spec Spec) ([]*Port, *Pool, *packet.Pool) {
	t.Helper()
	memory, packets := NewPool(spec.Buffer), &packet.Pool{}
	made := make([]*Port, n)
	for i := range made {
		var err error
		if made[i], err = NewInPool(spec, Kinds{}, memory, packets.Put); err != nil {
			t.Fatal(err)
		}
	}
	return made, memory, packets
}

func shared(sharing kind.Choice, buffer units.Size) Spec {
	spec := testbed("droptail", nil)
	spec.Buffer, spec.Sharing = buffer, sharing
	return spec
}

// fill sends packets of a size to a queue until one is dropped, and answers how
// many bytes the queue holds.
func fill(p *Port, pool *packet.Pool, q uint8, size int32) int {
	for p.Enqueue(0, get(pool, q, size, packet.NotECT)) {
	}
	return p.QueueBytes(int(q))
}

func TestStaticLimitsEachQueue(t *testing.T) {
	p, _, pool := ports(t, 1, shared(kind.Choice{Kind: "static", Params: map[string]any{"per_queue": 30 * units.KB}}, 120*units.KB))
	for q := range uint8(4) {
		if got := fill(p[0], pool, q, 1000); got != 30_000 {
			t.Errorf("queue %d holds %d bytes, want its limit, whatever the others hold", q, got)
		}
	}
}

// TestPoolIsSharedByPorts: what one port holds is missing to the other, and
// comes back when it leaves.
func TestPoolIsSharedByPorts(t *testing.T) {
	p, memory, pool := ports(t, 2, shared(kind.Choice{Kind: "pool"}, 96*units.KB))
	if got := fill(p[0], pool, 1, 1000); got != 96_000 {
		t.Fatalf("a lone port fills %d bytes of the pool", got)
	}
	if p[1].Enqueue(0, get(pool, 0, 1, packet.NotECT)) || p[1].Count(0).DropsFull != 1 {
		t.Error("a full pool takes a byte from another port")
	}
	k, _ := p[0].Dequeue(0)
	pool.Put(k)
	if memory.Bytes() != 95_000 || !p[1].Enqueue(0, get(pool, 0, 1000, packet.NotECT)) {
		t.Errorf("%d bytes taken: another port does not get what has left", memory.Bytes())
	}
}

// TestDynamicThresholdIsExclusive: a queue that has reached alpha times the free memory
// gets nothing more (Choudhury and Hahne, section III: it is blocked when its length is at
// or above the threshold). Here 500 bytes are queued, and 500 are free.
func TestDynamicThresholdIsExclusive(t *testing.T) {
	p, _, packets := ports(t, 1, shared(kind.Choice{Kind: "dynamic", Params: map[string]any{"alpha": 1}}, 1000))
	if got := fill(p[0], packets, 0, 100); got != 500 {
		t.Errorf("the queue holds %d bytes, want 500", got)
	}
}

// TestDynamicThreshold: a lone queue stops at alpha/(1+alpha) of the pool, and m
// busy ones at alpha/(1+m alpha) each (Choudhury and Hahne, equation 2).
func TestDynamicThreshold(t *testing.T) {
	const pool, size = 1_200_000, 100
	for _, alpha := range []float64{0.125, 0.5, 1, 2, 8} {
		for _, busy := range []int{1, 2, 4, 8} {
			p, memory, packets := ports(t, 2, shared(kind.Choice{Kind: "dynamic", Params: map[string]any{"alpha": alpha}}, pool))
			for grew := true; grew; {
				grew = false
				for q := range busy {
					grew = p[q/4].Enqueue(0, get(packets, uint8(q%4), size, packet.NotECT)) || grew
				}
			}
			want := pool * alpha / (1 + float64(busy)*alpha)
			for q := range busy {
				got := p[q/4].QueueBytes(q % 4)
				if math.Abs(float64(got)-want) > size*(1+alpha*float64(busy)) {
					t.Errorf("alpha %v, %d busy: queue %d holds %d bytes, want %.0f", alpha, busy, q, got, want)
				}
			}
			if memory.Bytes() > pool {
				t.Errorf("%d bytes in a pool of %d", memory.Bytes(), pool)
			}
		}
	}
}

// TestEverySharing drives two ports of a switch at random under each sharing and
// scheduler: no limit is exceeded, a scheme is told the pool, and packets and
// bytes are conserved.
func TestEverySharing(t *testing.T) {
	for _, sharing := range []kind.Choice{
		{}, {Kind: "port"}, {Kind: "static", Params: map[string]any{"per_queue": 10 * units.KB}}, {Kind: "pool"}, {Kind: "dynamic", Params: map[string]any{"alpha": 0.5}}, {Kind: "abm"},
	} {
		for _, c := range schedulers() {
			t.Run(fmt.Sprint(sharing.Kind, c), func(t *testing.T) {
				spec := shared(sharing, 40*units.KB)
				spec.Queues, spec.Scheduler = 64, c
				spec.Limiter = Limiter{RateFraction: 0.995, Bucket: 2500}
				p, memory, pool := ports(t, 2, spec)
				in, out := drive(t, p, pool, spec)
				held, bytes := 0, 0
				var c Count
				for _, one := range p {
					for q := range one.Queues() {
						n := one.Count(q)
						c.Enqueued, c.DropsFull, c.SentBytes = c.Enqueued+n.Enqueued, c.DropsFull+n.DropsFull, c.SentBytes+n.SentBytes
						held += one.queues[q].Len()
						bytes += one.QueueBytes(q)
					}
				}
				if c.DropsFull == 0 || in.packets != int(c.Enqueued+c.DropsFull) || int(c.Enqueued) != out.packets+held || int(c.SentBytes) != out.bytes || pool.Taken() != held {
					t.Errorf("in %+v, out %+v, %d held, pool %d: %+v", in, out, held, pool.Taken(), c)
				}
				if own := p[0].bytes + p[1].bytes; bytes != own {
					t.Errorf("queues hold %d bytes, ports %d", bytes, own)
				}
				if p[0].memory.Pool == memory && memory.Bytes() != bytes {
					t.Errorf("the pool counts %d bytes, the queues hold %d", memory.Bytes(), bytes)
				}
			})
		}
	}
}

// told checks what a scheme is told of a port's memory.
type told struct {
	aqm.Scheme
	port *Port
	t    *testing.T
}

func (o told) Arrive(now time.Duration, k *packet.Packet, v aqm.View) aqm.Verdict {
	o.check(v)
	return o.Scheme.Arrive(now, k, v)
}

func (o told) Depart(now time.Duration, k *packet.Packet, v aqm.View) aqm.Verdict {
	o.check(v)
	return o.Scheme.Depart(now, k, v)
}

func (o told) check(v aqm.View) {
	held := 0
	for q := range o.port.Queues() {
		held += o.port.QueueBytes(q)
	}
	if v.PoolBytes != o.port.memory.Bytes() || v.PortBytes != held {
		o.t.Fatalf("a scheme is told %d bytes in the pool and %d in the port, want %d and %d", v.PoolBytes, v.PortBytes, o.port.memory.Bytes(), held)
	}
}

type tally struct{ packets, bytes int }

// drive offers two ports more than they can send, and looks at every limit after
// every packet.
func drive(t *testing.T, p []*Port, pool *packet.Pool, spec Spec) (in, out tally) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	for _, one := range p {
		one.scheme = told{one.scheme, one, t}
	}
	now := time.Duration(0)
	for range 10000 {
		now += time.Duration(rng.ExpFloat64() * 3000)
		one := p[rng.IntN(len(p))]
		k := get(pool, uint8(rng.ExpFloat64()*8)%64, int32(40+rng.IntN(1461)), packet.ECT0)
		in.packets++
		q, size := k.Class(one.Queues()), int(k.Size)
		in.bytes += size
		accepted := one.Enqueue(now, k)
		if taken := one.memory.Bytes(); taken > int(spec.Buffer) {
			t.Fatalf("%d bytes in a buffer of %v", taken, spec.Buffer)
		}
		if limit, ok := spec.Sharing.Params["per_queue"].(units.Size); ok && one.QueueBytes(q) > int(limit) {
			t.Fatalf("%d bytes in a queue of %v", one.QueueBytes(q), limit)
		}
		if !accepted && spec.Sharing.Kind == "pool" && one.memory.Bytes()+size <= int(spec.Buffer) {
			t.Fatalf("a packet of %d dropped with %d bytes taken", size, one.memory.Bytes())
		}
		if k, _ := p[rng.IntN(len(p))].Dequeue(now); k != nil {
			out.packets++
			out.bytes += int(k.Size)
			pool.Put(k)
		}
	}
	return in, out
}

// schedulers are those that take 64 queues.
func schedulers() []kind.Choice {
	over := func(inner string) kind.Choice {
		return kind.Choice{Kind: "sp", Params: map[string]any{"inner": map[string]any{"kind": inner}}}
	}
	return []kind.Choice{
		{Kind: "dwrr"}, {Kind: "wrr"}, {Kind: "wfq"}, {Kind: "sp"}, {Kind: "pifo"}, {Kind: "pifo", Params: map[string]any{"by": "flow"}}, {Kind: "fq"}, {Kind: "dualq"},
		{Kind: "pifo", Params: map[string]any{"rank": "srpt", "by": "packet"}}, {Kind: "sp-pifo", Params: map[string]any{"depth": 0}}, {Kind: "aifo"},
		over("dwrr"), over("wfq"),
	}
}

func TestBadSharing(t *testing.T) {
	for want, sharing := range map[string]kind.Choice{
		`sharing: unknown kind "fair": want one of port, static, pool, dynamic, abm`: {Kind: "fair"},
		"sharing: static: per_queue: missing":                                        {Kind: "static"},
		"per_queue: 1.499KB does not hold one packet: want at least 1500B":           {Kind: "static", Params: map[string]any{"per_queue": "1499B"}},
		"alpha: 0 is outside (0, 1000]":                                              {Kind: "dynamic", Params: map[string]any{"alpha": 0}},
		"alpha: NaN is outside (0, 1000]":                                            {Kind: "dynamic", Params: map[string]any{"alpha": math.NaN()}},
		"alpha: unknown parameter":                                                   {Kind: "pool", Params: map[string]any{"alpha": 1}},
	} {
		if _, err := New(shared(sharing, units.MB), Kinds{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want one that says %s", sharing, err, want)
		}
	}
}

// BenchmarkScheduler is a packet through a port whose queues are all busy.
func BenchmarkScheduler(b *testing.B) {
	for _, c := range schedulers() {
		for _, queues := range []int{8, 64} {
			b.Run(fmt.Sprint(c.Kind, c.Params["inner"], "/", queues), func(b *testing.B) {
				spec := shared(kind.Choice{}, units.MB)
				spec.Queues, spec.Scheduler = queues, c
				p, pool := build(b, spec)
				for i := range 4 * queues {
					p.Enqueue(0, get(pool, uint8(i%queues), 1500, packet.ECT0))
				}
				b.ReportAllocs()
				now := time.Duration(0)
				for b.Loop() {
					now += 12 * time.Microsecond
					k, _ := p.Dequeue(now)
					p.Enqueue(now, k) // to where it came from: all stay busy
				}
			})
		}
	}
}
