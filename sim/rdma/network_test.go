package rdma

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/event"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// lab is a stack on a network.
type lab struct {
	event.Loop
	*Stack
	network *fabric.Network
	pool    packet.Pool
	pairs   []pair
	lose    func(*packet.Packet) bool // on its way into the network
}

// pair is a connection, and what its ends have got so far.
type pair struct {
	ends  [2]*Endpoint
	hosts [2]int32
	users [2]*tally
}

func (l *lab) Deliver(now time.Duration, host int, k *packet.Packet) {
	p := &l.pairs[k.Segment.Conn]
	e := p.ends[0]
	if p.hosts[1] == int32(host) {
		e = p.ends[1]
	}
	e.Receive(now, k)
}

func (l *lab) inject(at time.Duration, host int, k *packet.Packet) {
	if l.lose != nil && l.lose(k) {
		l.pool.Put(k)
		return
	}
	l.network.Send(at, host, k)
}

// star is n hosts around a switch, 5 us away from it.
func star(n int, rate units.Rate) fabric.Spec {
	s := fabric.Spec{Switches: []string{"s1"}, Port: port.Spec{
		Queues: 1, Buffer: 10 * units.MB, Scheduler: kind.Choice{Kind: "fifo"}, Scheme: kind.Choice{Kind: "droptail"},
	}}
	for i := range n {
		name := fmt.Sprintf("h%d", i)
		s.Hosts = append(s.Hosts, fabric.Host{Name: name, Addr: netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})})
		s.Links = append(s.Links, fabric.Link{A: name, B: "s1", Rate: rate, Delay: 5 * us})
	}
	return s
}

// red marks as the DCQCN paper sets its switches: not up to 5 KB, all above 200
// KB, and 1 % at 200 KB (section 5.2).
func red(s fabric.Spec, seed uint64) fabric.Spec {
	s.Port.Seed = seed
	s.Port.Scheme = kind.Choice{Kind: "red", Params: map[string]any{"min": "5KB", "max": "200KB", "pmax": 0.01, "weight": 1, "ecn": true}}
	return s
}

func newLab(t testing.TB, spec fabric.Spec) *lab {
	t.Helper()
	l := &lab{}
	var err error
	l.network, err = fabric.New(&l.Loop, spec, fabric.Attachment{Edge: l, Release: l.pool.Put, Stopped: func(now time.Duration, host int, stop bool) {
		l.Pause(now, host, stop)
	}})
	if err != nil {
		t.Fatal(err)
	}
	c := config(len(spec.Hosts))
	c.Uplinks = slices.Repeat([]units.Rate{spec.Links[0].Rate}, len(spec.Hosts))
	if l.Stack, err = NewStack(&l.Loop, &l.pool, l.inject, c); err != nil {
		t.Fatal(err)
	}
	return l
}

// connect opens a connection between two hosts.
func (l *lab) connect(a, b int32) int {
	conn := len(l.pairs)
	p := pair{hosts: [2]int32{a, b}, ends: [2]*Endpoint{l.Endpoint(), l.Endpoint()}, users: [2]*tally{{}, {}}}
	for i, e := range p.ends {
		e.Establish(Ends{Conn: int32(conn), Local: p.hosts[i], Remote: p.hosts[1-i], Hash: uint32(conn)}, p.users[i])
	}
	l.pairs = append(l.pairs, p)
	return conn
}

// TestGoBackN: whatever is lost, both ends of every connection get each byte
// exactly once and hear that the other did, and all packets come back.
func TestGoBackN(t *testing.T) {
	for _, loss := range []float64{0, 0.001, 0.02, 0.2} {
		for seed := range uint64(5) {
			t.Run(fmt.Sprintf("%v/%d", loss, seed), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 0))
				l := newLab(t, red(star(4, 10*units.Gbps), seed))
				l.lose = func(*packet.Packet) bool { return rng.Float64() < loss }
				var want [][2]int64
				for range 6 {
					a := rng.Int32N(4)
					l.connect(a, (a+1+rng.Int32N(3))%4)
					want = append(want, [2]int64{})
				}
				for range 60 {
					l.RunUntil(l.Now() + time.Duration(rng.IntN(100))*us)
					conn, end, n := rng.IntN(6), rng.IntN(2), 1+rng.Int64N(30_000)
					l.pairs[conn].ends[end].Write(l.Now(), n, 0)
					want[conn][1-end] += n
				}
				l.RunUntil(l.Now() + 5*time.Second)
				for i, p := range l.pairs {
					for end, e := range p.ends {
						if u := p.users[end]; u.delivered != want[i][end] || e.acked != want[i][1-end] || u.acked == 0 != (e.acked == 0) {
							t.Errorf("connection %d, end %d: %+v, acknowledged %d; want %v", i, end, u, e.acked, want[i])
						}
						e.Release()
					}
				}
				if at, pending := l.Next(); pending || l.pool.Taken() != 0 {
					t.Errorf("%d packets held, next event at %v: %v", l.pool.Taken(), at, pending)
				}
				if c := l.totals(); loss == 0 && c.Retransmits+c.Timeouts+c.Refusals != 0 || loss > 0.01 && min(c.Retransmits, c.Timeouts, c.Refusals) == 0 {
					t.Errorf("at a loss of %v: %+v", loss, c)
				}
			})
		}
	}
}

// totals adds up the counters of all hosts.
func (l *lab) totals() (sum Counters) {
	for h := range l.nics {
		c := l.Counters(h)
		sum.Cuts += c.Cuts
		sum.Notifications += c.Notifications
		sum.Refusals += c.Refusals
		sum.Retransmits += c.Retransmits
		sum.Timeouts += c.Timeouts
	}
	return sum
}

// TestFairness: two flows share the link to a third host, at 40 Gbps and with the
// parameters of the DCQCN paper. The second starts 5 ms after the first, at line
// rate as all do. From 100 ms on they have the same rate within a tenth, the link is
// used, and the queue stays in the range in which marking is random, as the paper
// sets out for these parameters (section 5.2).
func TestFairness(t *testing.T) {
	for seed := range uint64(3) {
		l := newLab(t, red(star(3, 40*units.Gbps), seed))
		l.connect(0, 2)
		l.connect(1, 2)
		l.pairs[0].ends[0].Write(0, 1<<40, 0)
		l.RunUntil(5 * time.Millisecond)
		l.pairs[1].ends[0].Write(l.Now(), 1<<40, 0)
		l.RunUntil(100 * time.Millisecond)
		out := l.network.Ports()[2]
		out.TakePeak(0)
		before := [2]int64{l.pairs[0].users[1].delivered, l.pairs[1].users[1].delivered}
		l.RunUntil(200 * time.Millisecond)
		first, second := l.pairs[0].users[1].delivered-before[0], l.pairs[1].users[1].delivered-before[1]
		share := float64(first) / float64(first+second)
		used := float64(first+second) * 1538 / 1456 / float64((40 * units.Gbps).Bytes(100*time.Millisecond))
		peak := out.TakePeak(0)
		t.Logf("seed %d: share %.3f, utilisation %.3f, peak %d, %+v", seed, share, used, peak, l.totals())
		if share < 0.45 || share > 0.55 || used < 0.95 || peak > 200_000 {
			t.Errorf("seed %d: share %.3f, utilisation %.3f, queue of up to %d bytes", seed, share, used, peak)
		}
	}
}

// TestLosslessIncast: with flow control in the network nothing is lost when eight
// hosts start to send to one at line rate, so nothing is sent twice; without it,
// in the same buffer, much is.
func TestLosslessIncast(t *testing.T) {
	run := func(pause fabric.Pause) (Counters, int64) {
		s := red(star(9, 10*units.Gbps), 1)
		s.Port.Buffer, s.Pause = 9*fabric.Pause{XOff: 20 * units.KB}.Peak(s.Links[0], 1500), pause
		l := newLab(t, s)
		for h := range int32(8) {
			l.connect(h, 8)
			l.pairs[h].ends[0].Write(0, 1_000_000, 0)
		}
		l.RunUntil(100 * time.Millisecond)
		for i, p := range l.pairs {
			if p.users[1].delivered != 1_000_000 || p.users[0].acked != 1 {
				t.Errorf("%+v: flow %d: sender told %+v, receiver %+v", pause, i, p.users[0], p.users[1])
			}
		}
		if l.pool.Taken() != 0 {
			t.Errorf("%+v: %d packets held", pause, l.pool.Taken())
		}
		return l.totals(), l.network.Ports()[0].Pauses().Stops
	}
	if c, stops := run(fabric.Pause{XOff: 20 * units.KB, XOn: 15 * units.KB}); stops == 0 || c.Retransmits != 0 || c.Timeouts != 0 || c.Cuts == 0 {
		t.Errorf("with flow control: %d stops, %+v", stops, c)
	}
	if c, stops := run(fabric.Pause{}); stops != 0 || c.Retransmits == 0 {
		t.Errorf("without flow control: %d stops, %+v", stops, c)
	}
}

// TestNoAllocations: flows that are marked, cut, and increased.
func TestNoAllocations(t *testing.T) {
	l := newLab(t, red(star(3, 10*units.Gbps), 1))
	l.connect(0, 2)
	l.connect(1, 2)
	step := func() {
		for _, p := range l.pairs {
			p.ends[0].Write(l.Now(), 100_000, 0)
		}
		l.RunUntil(l.Now() + 200*us)
	}
	for range 50 {
		step()
	}
	before := l.totals().Cuts
	if n := testing.AllocsPerRun(50, step); n != 0 || l.totals().Cuts == before {
		t.Errorf("%v allocations a step, %d cuts", n, l.totals().Cuts-before)
	}
}

// BenchmarkPacket is the cost of one data packet through host, network and host,
// with its share of acknowledgements and notifications.
func BenchmarkPacket(b *testing.B) {
	l := newLab(b, red(star(9, 10*units.Gbps), 1))
	for h := range int32(8) {
		l.connect(h, 8)
		l.pairs[h].ends[0].Write(0, 1<<50, 0)
	}
	b.ReportAllocs()
	for b.Loop() {
		l.RunUntil(l.Now() + full(1))
	}
}
