package sched

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// sorter is a pifo by flow of two classes, with what else params say.
func sorter(t testing.TB, params map[string]any) *flows {
	t.Helper()
	p := map[string]any{"by": "flow"}
	for name, v := range params {
		p[name] = v
	}
	s, err := Table().New("pifo", p, Env{Queues: 2, Schedulers: Table()})
	if err != nil {
		t.Fatal(err)
	}
	return s.(*flows)
}

// of is a packet of a flow, with the flow's letter as its hash.
func of(flow byte, size int32) *packet.Packet {
	return &packet.Packet{Hash: uint32(flow), Size: size}
}

// hold gives a scheduler packets at a time, as a port does.
func (s *flows) hold(now time.Duration, packets ...*packet.Packet) {
	for _, k := range packets {
		k.Enqueued = now
		s.Hold(now, s.classes.of(k), k)
	}
}

// taken takes all packets at a time, and tells their flows.
func (s *flows) taken(now time.Duration) string {
	var letters []byte
	for s.Head() != nil {
		letters = append(letters, byte(s.Take(now).Hash))
	}
	return string(letters)
}

// TestSTFQOfFlows: flows of one class share the link, whatever each has sent before the
// other came. A flow that is new starts at the virtual time, not at zero.
func TestSTFQOfFlows(t *testing.T) {
	s := sorter(t, nil)
	s.hold(0, of('a', 1500), of('a', 1500), of('a', 1500), of('b', 1500), of('b', 500), of('b', 500), of('b', 500))
	if got, want := s.taken(0), "ababbba"; got != want { // a: 0, 1500, 3000; b: 0, 1500, 2000, 2500
		t.Errorf("took %s, want %s", got, want)
	}
	s.hold(0, of('a', 100), of('a', 100), of('c', 100), of('c', 100)) // a: 4500, 4600; c: 3000, 3100
	if got, want := s.taken(0), "ccaa"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
}

// TestSTFQNewFlow: a flow that is new starts at the virtual time, also where it then has
// packets on both sides of those of an older one.
func TestSTFQNewFlow(t *testing.T) {
	s := sorter(t, nil)
	s.hold(0, of('a', 1500), of('a', 1500), of('a', 1500))
	s.taken(0)                                                           // the virtual time is 3000
	s.hold(0, of('a', 100), of('c', 1000), of('c', 1000), of('c', 1000)) // a: 4500; c: 3000, 4000, 5000
	if got, want := s.taken(0), "ccac"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
}

// TestLASGapBeginsWhenAPacketLeaves: a flow is silent from when its last packet has left, not
// from when that came.
func TestLASGapBeginsWhenAPacketLeaves(t *testing.T) {
	const us = time.Microsecond
	s := sorter(t, map[string]any{"rank": "las", "gap": "500us"})
	s.hold(0, of('a', 1500), of('a', 1500), of('b', 1000))
	s.Take(0)
	s.Take(0)
	s.Take(800 * us) // the second of a, which has 3000 now, and b 1000
	s.hold(1200*us, of('a', 1500))
	s.hold(1200*us, of('b', 1000)) // silent for 1200 us: a new flow, of 0
	if got, want := s.taken(1200*us), "ba"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
	s.hold(1300*us, of('c', 2000), of('c', 2000), of('a', 10)) // a has 4500 still
	if got, want := s.taken(1300*us), "cca"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
}

// TestLSTFOfFlowsByClass: of packets that came at once, the one goes first whose class has
// less slack.
func TestLSTFOfFlowsByClass(t *testing.T) {
	s := sorter(t, map[string]any{"rank": "lstf", "slacks": []string{"1ms", "100us"}})
	urgent := of('u', 1000)
	urgent.DSCP = 1
	s.hold(0, of('a', 1000), urgent)
	if got, want := s.taken(0), "ua"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
}

// The weight of a flow is that of its class.
func TestSTFQOfFlowsWithWeights(t *testing.T) {
	s := sorter(t, map[string]any{"weights": []int{1, 3}})
	sent := map[uint32]int{}
	feed := func(flow byte, class uint8) {
		k := of(flow, 1000)
		k.DSCP = class
		s.hold(0, k)
	}
	feed('a', 0)
	feed('b', 1)
	for range 4000 {
		k := s.Take(0)
		sent[k.Hash] += int(k.Size)
		feed(byte(k.Hash), k.DSCP)
	}
	if a, b := sent['a'], sent['b']; math.Abs(float64(b)-3*float64(a)) > 4000 {
		t.Errorf("sent %d and %d bytes, want one to three", a, b)
	}
}

// TestSTFQIsFair: while two flows have packets, what they get differs by no more than a
// packet of each (Goyal, Vin and Cheng, SIGCOMM 1996, theorem 1), also if one of them
// has a single packet at a time, which comes while the one before is being sent.
func TestSTFQIsFair(t *testing.T) {
	s := sorter(t, nil)
	rng := rand.New(rand.NewPCG(5, 6))
	sent := map[uint32]int{}
	for range 4 {
		s.hold(0, of('a', 1500))
	}
	s.hold(0, of('b', 700))
	for range 20000 {
		k := s.Take(0)
		sent[k.Hash] += int(k.Size)
		if d := sent['a'] - sent['b']; d < -3000 || d > 3000 {
			t.Fatalf("sent %d and %d bytes", sent['a'], sent['b'])
		}
		s.hold(0, of(byte(k.Hash), 40+rng.Int32N(1461)))
	}
}

// TestLASOfFlows: the flow to which least was sent goes first. A flow that was silent
// for the gap is a new one.
func TestLASOfFlows(t *testing.T) {
	s := sorter(t, map[string]any{"rank": "las", "gap": "500us"})
	s.hold(0, of('a', 1500), of('a', 1500), of('a', 1500))
	s.Take(0)
	s.hold(0, of('b', 1000), of('b', 1000), of('b', 1000))
	if got, want := s.taken(0), "bbaba"; got != want { // a has 1500: b until it has 2000
		t.Errorf("took %s, want %s", got, want)
	}
	s.hold(500*time.Microsecond, of('a', 10), of('b', 10)) // 4500 and 3000 still
	if got, want := s.taken(500*time.Microsecond), "ba"; got != want {
		t.Errorf("at the end of the gap: took %s, want %s", got, want)
	}
	later := 1001 * time.Microsecond
	s.hold(900*time.Microsecond, of('b', 10))
	s.taken(900 * time.Microsecond)
	s.hold(later, of('a', 10), of('b', 10)) // b was not silent
	if got, want := s.taken(later), "ab"; got != want {
		t.Errorf("after the gap: took %s, want %s", got, want)
	}
}

// TestSRPTOfFlows: the flow of which least remains goes first, its packets in the order
// in which they came; what has no payload precedes all.
func TestSRPTOfFlows(t *testing.T) {
	left := func(flow byte, bytes uint32) *packet.Packet {
		k := of(flow, 1500)
		k.Segment.Left = bytes
		return k
	}
	s := sorter(t, map[string]any{"rank": "srpt"})
	first := left('b', 4000)
	s.hold(0, left('a', 3000), first, left('c', 0), left('b', 2500), left('b', 1000)) // b has less left than a by now
	if k := s.Take(0); k.Hash != 'c' {
		t.Errorf("took %c first", k.Hash)
	}
	if k := s.Take(0); k != first {
		t.Errorf("took %+v, not the first of b", k)
	}
	s.hold(0, left('b', 4000)) // sent again: less of b remains all the same
	if got, want := s.taken(0), "bbba"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
}

// TestSlackIsUsedUp: of two packets with the same slack, that goes first which waited
// longer at the switch before, however late it comes (Mittal et al., NSDI 2016). With
// slack: hop each switch grants it anew.
func TestSlackIsUsedUp(t *testing.T) {
	ms := time.Millisecond
	for slack, want := range map[string]string{"hop": "ba", "path": "ab"} {
		params := map[string]any{"rank": "lstf", "slacks": []any{"10ms", "0s"}, "slack": slack}
		before, here := sorter(t, params), sorter(t, params)
		a, b := of('a', 1500), of('b', 1500)
		before.hold(0, a)
		before.Take(8 * ms) // 2 ms are left
		here.hold(9*ms, b)
		here.hold(10*ms, a) // due at 12 ms, b at 19
		if got := here.taken(11 * ms); got != want {
			t.Errorf("slack %s: took %s, want %s", slack, got, want)
		}
		if a.Spent != uint32(9*ms) {
			t.Errorf("slack %s: a spent %v, want 9ms", slack, time.Duration(a.Spent))
		}
	}
	s := sorter(t, map[string]any{"rank": "lstf", "slacks": []any{"10ms", "0s"}})
	a := of('a', 1500)
	for now := time.Duration(0); now < 10*time.Second; now += time.Second {
		s.hold(now, a)
		s.Take(now + time.Second)
	}
	if a.Spent != math.MaxUint32 {
		t.Errorf("after ten seconds: %v", time.Duration(a.Spent))
	}
}

// TestEveryRankOfFlows: at random, the head is of a flow than which none has a smaller
// rank, a flow's packets keep their order, and all that is held comes out.
func TestEveryRankOfFlows(t *testing.T) {
	for _, rank := range []string{"stfq", "las", "srpt", "lstf"} {
		params := map[string]any{"rank": rank, "flows": 64}
		if rank == "lstf" {
			params["slacks"] = []any{"1ms", "3ms"}
		}
		s, rng := sorter(t, params), rand.New(rand.NewPCG(7, 8))
		held, sent := map[uint32][]*packet.Packet{}, 0
		now := time.Duration(0)
		take := func() {
			head := s.Head()
			for _, i := range s.order {
				if f := &s.table[i]; precedes(f.rank, s.table[s.order[0]].rank) {
					t.Fatalf("%s: a flow of rank %d waits, the head has %d", rank, f.rank, s.table[s.order[0]].rank)
				}
			}
			q, ok := s.Next(now)
			k := s.Take(now)
			if !ok || k != head || q != k.Class(2) || k != held[k.Hash][0] {
				t.Fatalf("%s: took %+v, head %+v of queue %d", rank, k, head, q)
			}
			held[k.Hash] = held[k.Hash][1:]
			sent++
		}
		for range 20000 {
			now += time.Duration(rng.IntN(10000))
			k := of(byte(rng.IntN(200)), 40+rng.Int32N(1461))
			k.DSCP, k.Segment.Left = uint8(k.Hash%2), rng.Uint32N(1e6)
			held[k.Hash] = append(held[k.Hash], k)
			s.hold(now, k)
			if rng.IntN(100) < 48 {
				take()
			}
		}
		for s.Head() != nil {
			take()
		}
		if sent != 20000 {
			t.Errorf("%s: %d packets came out, of 20000", rank, sent)
		}
	}
}

// TestFlowsSpread: the flows that equal paths leave to a port, whose hashes have one
// remainder, are spread over the whole table.
func TestFlowsSpread(t *testing.T) {
	s := sorter(t, map[string]any{"flows": 1000})
	if len(s.table) != 1024 {
		t.Fatalf("%d entries for 1000 flows", len(s.table))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	used := map[int]bool{}
	for range 1024 {
		used[s.flowOf(&packet.Packet{Hash: rng.Uint32N(1<<26)*16 + 3})] = true
	}
	if n := float64(len(used)); math.Abs(n/1024-(1-1/math.E)) > 0.05 { // as of balls thrown into bins
		t.Errorf("1024 flows use %v entries", n)
	}
}

// Neither costs a packet memory.
func TestFlowsAllocateNothing(t *testing.T) {
	for _, rank := range []string{"stfq", "las", "srpt"} {
		s, i := sorter(t, map[string]any{"rank": rank}), uint32(0)
		packets := make([]*packet.Packet, 64)
		for i := range packets {
			packets[i] = new(packet.Packet)
			packets[i].Size = 1500
			s.hold(0, packets[i])
		}
		if n := testing.AllocsPerRun(1000, func() {
			k := s.Take(0)
			k.Hash = i * 2654435761
			i++
			s.hold(0, k)
		}); n != 0 {
			t.Errorf("%s: %v allocations a packet", rank, n)
		}
	}
}

// The weights and strict queues of classes are none of a scheduler of flows, and what
// ranks the flows of a port is no inner scheduler.
func TestFlowsBadParameters(t *testing.T) {
	for want, params := range map[string]map[string]any{
		"by: a class attains service":      {"rank": "las"},
		"slack: stfq has none":             {"by": "flow", "slack": "path"},
		"slack: packets of a class differ": {"rank": "lstf", "slack": "path", "slacks": []any{"1ms", "1ms"}},
		"slacks: 0 slacks for 2":           {"rank": "lstf", "by": "flow"},
		"flows: 1 is outside 2 to 1048576": {"by": "flow", "flows": 1},
		"by: unknown choice \"host\": wa":  {"by": "host"},
	} {
		if _, err := Table().New("pifo", params, Env{Queues: 2}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v does not say %q", params, err, want)
		}
	}
	over := map[string]any{"inner": map[string]any{"kind": "pifo", "by": "flow"}}
	if _, err := Table().New("sp", over, Env{Queues: 2, Schedulers: Table()}); err == nil || !strings.Contains(err.Error(), "inner.kind: pifo ranks flows of the whole port") {
		t.Errorf("as an inner scheduler: %v", err)
	}
	if s := sorter(t, map[string]any{"rank": "srpt"}); !s.ByMessage() {
		t.Error("srpt does not say that it reads what remains")
	}
	if s := sorter(t, map[string]any{"rank": "las"}); s.ByMessage() || !slices.Equal(Weights(s, 2), []int{1, 1}) || Strict(s) != 0 {
		t.Error("las says what it does not do")
	}
}
