package aqm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// oracle is CoDel as RFC 8289, section 5 tells it, over a queue of its own: one
// call takes packets off the head until one may leave. It differs where Linux
// and the papers do: the end of the first interval must have passed, and with
// marking the loop ends at the mark.
type oracle struct {
	target, interval time.Duration
	mtu              int
	action           string

	queue      []oraclePacket
	firstAbove time.Duration
	dropNext   time.Duration
	count      int
	lastCount  int
	dropping   bool
}

type oraclePacket struct {
	arrived time.Duration
	size    int
	ecn     packet.ECN
}

// marks tells whether a packet is marked where it may be dropped.
func (o *oracle) marks(p *oraclePacket) bool {
	return o.action == "mark" || o.action == "either" && p.ecn.Capable()
}

func (o *oracle) backlog() (n int) {
	for _, p := range o.queue {
		n += p.size
	}
	return n
}

// doDequeue takes the head off and tells whether it may be dropped.
func (o *oracle) doDequeue(now time.Duration) (p *oraclePacket, ok bool) {
	if len(o.queue) == 0 {
		o.firstAbove = -1
		return nil, false
	}
	head := o.queue[0]
	o.queue = o.queue[1:]
	switch {
	case now-head.arrived < o.target || o.backlog() <= o.mtu:
		o.firstAbove = -1
	case o.firstAbove == -1:
		o.firstAbove = now + o.interval
	case now > o.firstAbove:
		return &head, true
	}
	return &head, false
}

func (o *oracle) law(t time.Duration) time.Duration {
	return t + time.Duration(float64(o.interval)/math.Sqrt(float64(o.count)))
}

// dequeue returns the fates of the packets that left the queue, the last of
// which is not dropped.
func (o *oracle) dequeue(now time.Duration) (fates []Verdict) {
	p, ok := o.doDequeue(now)
	if o.dropping {
		if !ok {
			o.dropping = false
		}
		for o.dropping && now >= o.dropNext {
			o.count++
			if o.marks(p) {
				o.dropNext = o.law(o.dropNext)
				return append(fates, Mark)
			}
			fates = append(fates, Drop)
			if p, ok = o.doDequeue(now); !ok {
				o.dropping = false
			} else {
				o.dropNext = o.law(o.dropNext)
			}
		}
	} else if ok {
		marks := o.marks(p)
		if marks {
			fates = append(fates, Mark)
		} else {
			fates = append(fates, Drop)
			p, _ = o.doDequeue(now)
		}
		o.dropping = true
		delta := o.count - o.lastCount
		o.count = 1
		if delta > 1 && now-o.dropNext < 16*o.interval {
			o.count = delta
		}
		o.dropNext = o.law(now)
		o.lastCount = o.count
		if marks {
			return fates
		}
	}
	if p == nil {
		return fates
	}
	return append(fates, Pass)
}

// TestCoDelAgainstTheRFC runs random arrivals, in phases of under- and
// overload, with pauses that empty the queue and pauses of its service, through scheme and oracle.
func TestCoDelAgainstTheRFC(t *testing.T) {
	for _, action := range []string{"mark", "drop", "either"} {
		var acted, runs int
		for seed := range uint64(20) {
			got, want := codelWalk(t, action, seed)
			if !slices.Equal(got, want) {
				t.Fatalf("%s, seed %d: scheme and RFC part", action, seed)
			}
			for i, v := range got {
				if v == Pass {
					continue
				}
				acted++
				if i > 0 && got[i-1] != Pass {
					runs++
				}
			}
		}
		if acted < 1000 || action != "mark" && runs == 0 {
			t.Errorf("%s: the walks reach %d actions, %d in a row: too few to compare", action, acted, runs)
		}
	}
}

func codelWalk(t *testing.T, action string, seed uint64) (got, want []Verdict) {
	const target, interval, mtu = 50 * time.Microsecond, time.Millisecond, 1500
	s := build(t, "codel", map[string]any{"target": "50us", "interval": "1ms", "action": action})
	o := &oracle{target: target, interval: interval, mtu: mtu, action: action, firstAbove: -1}
	rng := rand.New(rand.NewPCG(seed, 3))
	var now, sent time.Duration
	load := 1.0
	for range 4000 {
		if rng.IntN(200) == 0 {
			load = rng.Float64() * 2
		}
		if rng.IntN(1000) == 0 {
			now += time.Duration(rng.Int64N(int64(40 * interval)))
		}
		now += time.Duration(rng.ExpFloat64() * 12e3 / max(load, 0.05))
		for len(o.queue) > 0 && sent < now {
			before := slices.Clone(o.queue)
			fates := o.dequeue(sent)
			want = append(want, fates...)
			got = append(got, replay(s, sent, before, len(fates))...)
			sent += 12 * time.Microsecond
			if rng.IntN(200) == 0 { // others are served first
				sent += time.Duration(rng.Int64N(int64(4 * interval)))
			}
		}
		sent = max(sent, now)
		o.queue = append(o.queue, oraclePacket{arrived: now, size: 40 + rng.IntN(1461), ecn: packet.ECN(len(got) % 3)})
	}
	return got, want
}

// replay asks the scheme about the first n packets of a queue, all at once.
func replay(s Scheme, now time.Duration, queue []oraclePacket, n int) (fates []Verdict) {
	for i := range n {
		left := oracle{queue: queue[i+1:]}
		k := &packet.Packet{ECN: queue[i].ecn}
		v := s.Depart(now, k, View{Queue: 2, Bytes: left.backlog(), Waited: now - queue[i].arrived})
		if v == MarkOrDrop {
			v = Drop
			if k.ECN.Capable() {
				v = Mark
			}
		}
		fates = append(fates, v)
	}
	return fates
}

// codelStep is one departure of a hand-worked trace, in microseconds.
type codelStep struct {
	at, waited int
	bytes      int
	want       Verdict
}

func TestCoDelTraces(t *testing.T) {
	const b = 30000
	tests := []struct {
		name, action string
		steps        []codelStep
	}{
		{"first mark strictly after an interval, then by the square root", "mark", []codelStep{
			{0, 50, b, Pass},    // first seen at target: 1000
			{1000, 60, b, Pass}, // not yet after
			{1001, 60, b, Mark}, // count 1: next at 2001
			{1002, 60, b, Pass},
			{2000, 60, b, Pass},
			{2001, 60, b, Mark}, // count 2: next at 2001 + 707.1
			{2708, 60, b, Pass},
			{2709, 60, b, Mark}, // count 3: next at 2708.1 + 577.35 = 3285.5
			{3285, 60, b, Pass},
			{3286, 60, b, Mark}, // count 4: next at 3785.5
			{9000, 60, b, Mark}, // late: one mark a departure
			{9000, 60, b, Mark},
		}},
		{"below target, one interval starts afresh", "mark", []codelStep{
			{0, 50, b, Pass},
			{999, 49, b, Pass},
			{1001, 60, b, Pass}, // first seen again: 2001
			{2001, 60, b, Pass},
			{2002, 60, b, Mark},
		}},
		{"a backlog of one MTU or none counts as below", "mark", []codelStep{
			{0, 900, b, Pass},
			{1001, 900, 1500, Pass},
			{1002, 900, 1501, Pass},
			{2003, 900, 0, Pass},
			{2004, 900, 1501, Pass},
			{3005, 900, 1501, Mark},
		}},
		{"re-entry goes on at the last pace", "mark", []codelStep{
			{0, 60, b, Pass},
			{1001, 60, b, Mark}, // count 1, next 2001
			{2001, 60, b, Mark}, // 2, next 2708.1
			{2709, 60, b, Mark}, // 3, next 3285.5
			{3286, 60, b, Mark}, // 4, next 3785.5
			{3300, 10, b, Pass}, // leaves
			{3400, 60, b, Pass}, // first seen: 4400
			{4401, 60, b, Mark}, // count 4 - 1 = 3: next at 4401 + 577.35
			{4978, 60, b, Pass},
			{4979, 60, b, Mark},
		}},
		{"re-entry after 16 intervals forgets", "mark", []codelStep{
			{0, 60, b, Pass},
			{1001, 60, b, Mark},
			{2001, 60, b, Mark},
			{2709, 60, b, Mark}, // count 3, next 3285.5
			{2800, 10, b, Pass},
			{18286, 60, b, Pass}, // first seen: 19286
			{19287, 60, b, Mark}, // 16001.5 after next: count 1, next at 20287
			{20286, 60, b, Pass},
			{20287, 60, b, Mark},
		}},
		{"drops several, then lets one go", "drop", []codelStep{
			{0, 60, b, Pass},
			{1001, 60, b, Drop}, // enters: next at 2001
			{1001, 60, b, Pass}, // the next packet leaves
			{3000, 60, b, Drop}, // 2001 due, next 2708.1
			{3000, 60, b, Drop}, // 2708.1 due, next 3285.5
			{3000, 60, b, Pass},
			{3286, 60, b, Drop},
			{3286, 10, b, Pass}, // below target: leaves the state
			{3287, 60, b, Pass},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := build(t, "codel", map[string]any{"target": "50us", "interval": "1ms", "action": tt.action})
			us := time.Microsecond
			for i, d := range tt.steps {
				v := View{Queue: 1, Bytes: d.bytes, Waited: time.Duration(d.waited) * us}
				if got := s.Depart(time.Duration(d.at)*us, nil, v); got != d.want {
					t.Errorf("departure %d at %d us: %v, want %v", i, d.at, got, d.want)
				}
				// Other queues keep a state of their own.
				if s.Depart(time.Duration(d.at)*us, nil, View{Queue: 0, Bytes: b}) != Pass {
					t.Errorf("departure %d of another queue is touched", i)
				}
			}
			if got := s.Arrive(0, nil, View{Bytes: 1 << 30}); got != Pass {
				t.Errorf("arrive: %v, want pass", got)
			}
		})
	}
}

// TestCoDelDefaults: interval is the base RTT, 250 us, target a twentieth of it.
func TestCoDelDefaults(t *testing.T) {
	us := time.Microsecond
	for waited, want := range map[time.Duration]Verdict{12500 - 1: Pass, 12500: Mark} {
		s := build(t, "codel", nil)
		v := View{Bytes: 30000, Waited: waited}
		if first, at := s.Depart(0, nil, v), s.Depart(250*us, nil, v); first != Pass || at != Pass {
			t.Errorf("waited %v: %v, %v within the interval", waited, first, at)
		}
		if got := s.Depart(250*us+1, nil, v); got != want {
			t.Errorf("waited %v: %v after the interval, want %v", waited, got, want)
		}
	}
}

// TestCoDelSpares: which backlog is left alone. Linux: at most an MTU. The article on
// CoDel, and ns-3's MinBytes in the authors' simulator: less. The authors' kernel
// module: at most 1538 bytes of lengths that count the wire. Linux's fq_codel: at most an MTU
// in all queues together. Here other queues hold 100 bytes.
func TestCoDelSpares(t *testing.T) {
	us := time.Microsecond
	for _, tt := range []struct {
		spares  string
		lengths packet.Lengths
		bytes   int
		want    Verdict
	}{
		{"mtu", packet.IP, 1500, Pass}, {"mtu", packet.IP, 1501, Mark},
		{"less", packet.IP, 1499, Pass}, {"less", packet.IP, 1500, Mark},
		{"mtu", packet.Wire, 1538, Pass}, {"mtu", packet.Wire, 1539, Mark},
		{"port", packet.IP, 1400, Pass}, {"port", packet.IP, 1401, Mark},
	} {
		e := env()
		e.Lengths = tt.lengths
		s, err := Table().New("codel", map[string]any{"target": "10us", "interval": "100us", "spares": tt.spares}, e)
		if err != nil {
			t.Fatal(err)
		}
		v := View{Packets: 2, Bytes: tt.bytes, PortBytes: tt.bytes + 100, Waited: 20 * us}
		s.Depart(0, nil, v)
		if got := s.Depart(100*us+1, nil, v); got != tt.want {
			t.Errorf("%s: %v with %d bytes left, want %v", tt.spares, got, tt.bytes, tt.want)
		}
	}
}

func TestCoDelBadParameters(t *testing.T) {
	refused(t, "codel", env(), map[string]map[string]any{
		"action":   {"action": "shoot"},
		"target":   {"target": "-1us"},
		"interval": {"interval": "-1us"},
		"mtu":      {"mtu": "-1B"},
		"spares":   {"spares": "some"},
	})
	e := env()
	e.RTTs = RTTs{}
	refused(t, "codel", e, map[string]map[string]any{"interval": {"target": "5ms"}})
}
