package sched

import (
	"math/rand/v2"
	"strings"
	"testing"

	"aqmlab/switch/packet"
)

// fair is an fq of two classes with what else params say. A full packet is 1500 bytes.
func fair(t testing.TB, params map[string]any) *fq {
	t.Helper()
	s, err := Table().New("fq", params, Env{Queues: 2, FullPacket: 1500, Schedulers: Table()})
	if err != nil {
		t.Fatal(err)
	}
	return s.(*fq)
}

func (s *fq) hold(packets ...*packet.Packet) {
	for _, k := range packets {
		s.Hold(0, s.Queue(k), k)
	}
}

// take takes n packets, and tells their flows.
func (s *fq) take(n int) string {
	var letters []byte
	for range n {
		if k := s.Take(0); k != nil {
			letters = append(letters, byte(k.Hash))
		}
	}
	return string(letters)
}

func several(n int, flow byte, size int32) (all []*packet.Packet) {
	for range n {
		all = append(all, of(flow, size))
	}
	return all
}

// TestFQNewFlowsGoFirst: a queue that gets its first packet is served before those that
// have had their quantum (RFC 8290, section 4.2).
func TestFQNewFlowsGoFirst(t *testing.T) {
	s := fair(t, nil)
	s.hold(several(4, 'a', 1500)...)
	s.hold(several(4, 'b', 1500)...)
	if got, want := s.take(3), "aba"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
	s.hold(several(2, 'c', 1500)...)
	if got, want := s.take(9), "cbcabab"; got != want { // a has had its quantum: b, c and a are the old queues then
		t.Errorf("took %s, want %s", got, want)
	}
}

// TestFQSmallPacketsShareAQuantum: a new queue sends its quantum in one turn, and what it
// sends beyond is taken off the next.
func TestFQSmallPacketsShareAQuantum(t *testing.T) {
	s := fair(t, map[string]any{"quantum": "1000B"})
	s.hold(several(6, 'a', 400)...)
	s.hold(several(3, 'b', 1500)...)
	// a: 1000, 600, 200, -200; b: 1000, -500; a: 800, 400, 0; b: 500, -1000; a: 1000, 600;
	// b: 0, which gives no turn, then 1000.
	if got, want := s.take(9), "aaabaabab"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
}

// TestFQEmptiedIsNotNew: a new queue that empties goes to the old ones, so that a flow that
// sends a packet at a time waits for the others' turns (section 4.2). When its turn comes
// without a packet, it is forgotten, and then is new again.
func TestFQEmptiedIsNotNew(t *testing.T) {
	s := fair(t, nil)
	s.hold(several(9, 'a', 1500)...)
	s.hold(several(9, 'b', 1500)...)
	if got := s.take(2); got != "ab" {
		t.Fatalf("took %s", got)
	}
	s.hold(of('s', 100))
	if got := s.take(2); got != "sa" {
		t.Fatalf("took %s, want the new flow first", got)
	}
	s.hold(of('s', 100)) // behind b and a
	if got, want := s.take(3), "bsa"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
	s.take(4) // its turn passes
	s.hold(of('s', 100))
	if got, want := s.take(1), "s"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
}

// TestFQIsFair: flows with packets of any size get the same bytes.
func TestFQIsFair(t *testing.T) {
	s := fair(t, nil)
	rng := rand.New(rand.NewPCG(4, 2))
	sizes := map[byte]int32{'a': 1500, 'b': 700, 'c': 64, 'd': 9000}
	for flow, size := range sizes {
		s.hold(several(20, flow, size)...)
	}
	sent := map[byte]int{}
	for range 20_000 {
		k := s.Take(0)
		flow := byte(k.Hash)
		sent[flow] += int(k.Size)
		k.Size = 1 + rng.Int32N(sizes[flow]*2)
		s.hold(k)
	}
	for flow := range sizes {
		if d := sent[flow] - sent['a']; d > 20_000 || d < -20_000 {
			t.Errorf("flow %c has sent %d bytes, a %d", flow, sent[flow], sent['a'])
		}
	}
}

// TestFQRefunds: what the scheme drops at the head costs its flow nothing.
func TestFQRefunds(t *testing.T) {
	s := fair(t, nil)
	s.hold(several(4, 'a', 1500)...)
	s.hold(several(2, 'b', 1500)...)
	for range 2 {
		s.Refund(s.Take(0))
	}
	if got, want := s.take(4), "abab"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
}

// TestFQEvictsTheLongest: the queue with the most bytes, not packets, loses half of them
// from its head, or a batch (section 4.1).
func TestFQEvictsTheLongest(t *testing.T) {
	evicted := func(s *fq) string {
		var out []byte
		for k := s.Evict(nil); k != nil; k = k.Next {
			out = append(out, byte(k.Hash))
			if k.Enqueued != 0 {
				out = append(out, '!')
			}
		}
		return string(out)
	}
	for name, tt := range map[string]struct {
		params map[string]any
		want   string
	}{
		"half":  {nil, "aaa"}, // of 7500 bytes 4500 go: the first 3000 are less than half
		"batch": {map[string]any{"drop_batch": 2}, "aa"},
	} {
		s := fair(t, tt.params)
		s.hold(several(20, 'c', 300)...)
		s.hold(several(5, 'a', 1500)...)
		s.hold(several(4, 'b', 1500)...)
		s.queues[s.flowOf(of('a', 0))].Head().Enqueued = 1 // the head
		if got := evicted(s); got != "a!"+tt.want[1:] {
			t.Errorf("%s: evicted %s, want %s from the head", name, got, tt.want)
		}
	}
	s := fair(t, nil)
	if s.Evict(nil) != nil || s.Head() != nil {
		t.Error("took from nothing")
	}
	s.hold(of('a', 1500))
	if got := evicted(s); got != "a" {
		t.Errorf("evicted %q", got)
	}
	if s.Head() != nil || s.fresh.count+s.old.count != 0 {
		t.Error("serves a queue that has lost all")
	}
}

// TestFQTellsItsQueues: the queue of a flow is the same for all its packets, and counts them.
func TestFQTellsItsQueues(t *testing.T) {
	s := fair(t, map[string]any{"flows": 100})
	if s.Queues() != 128 || Queues(s, 2) != 128 || Queues(fifo{}, 2) != 2 {
		t.Errorf("%d queues", s.Queues())
	}
	urgent := of('a', 700)
	urgent.DSCP = 1
	s.hold(of('a', 1500), urgent)
	q := s.Queue(urgent)
	if n, bytes := s.Length(q); n != 2 || bytes != 2200 {
		t.Errorf("%d packets, %d bytes", n, bytes)
	}
	s.Take(0)
	if class, ok := s.Next(0); s.Taken() != q || class != 1 || !ok {
		t.Errorf("took from %d, want %d; next is of class %d", s.Taken(), q, class)
	}
}

func TestFQParameters(t *testing.T) {
	for want, params := range map[string]map[string]any{
		"flows: 1 is outside 2 to 1048576":      {"flows": 1},
		"quantum: 0B is outside":                {"quantum": "0B"},
		"drop_batch: 0 is outside 1 to 1048576": {"drop_batch": 0},
	} {
		if _, err := Table().New("fq", params, Env{Queues: 1, FullPacket: 1500}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := Table().New("fq", nil, Env{Queues: 1}); err == nil {
		t.Error("built without a quantum")
	}
}
