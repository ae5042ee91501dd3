package sched

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"aqmlab/switch/packet"
)

// ranked makes a packet whose message has that much left.
func ranked(rank int) *packet.Packet {
	return &packet.Packet{Size: 1500, Segment: packet.Segment{Left: uint32(rank)}}
}

// arrive offers packets of those ranks, and answers which priorities took them, or -1.
func arrive(s Scheduler, ranks ...int) (queues []int) {
	for _, rank := range ranks {
		k := ranked(rank)
		q := s.(Classifier).Queue(k)
		if !s.(Admitter).Admits(k, q) {
			queues = append(queues, -1)
			continue
		}
		s.(Sorter).Hold(0, q, k)
		queues = append(queues, q)
	}
	return queues
}

// leave is the ranks of all packets in the order in which they leave.
func leave(s Scheduler) (ranks []int) {
	for s.(Sorter).Head() != nil {
		ranks = append(ranks, int(s.(Sorter).Take(0).Segment.Left))
	}
	return ranks
}

func spPIFOOf(t *testing.T, priorities, depth int) *spPIFO {
	t.Helper()
	s, err := Table().New("sp-pifo", map[string]any{"priorities": priorities, "depth": depth}, Env{Queues: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s.(*spPIFO)
}

// TestSPPIFOMapping: scanned from the lowest priority, the first whose bound the rank reaches
// takes the packet, and its bound becomes the rank. When none does, the highest takes it, and
// all bounds go down by the inversion (Alcoz et al., NSDI 2020, push-up and push-down).
func TestSPPIFOMapping(t *testing.T) {
	s := spPIFOOf(t, 2, 0)
	for i, step := range []struct {
		rank, queue int
		bounds      []int64 // of the priorities after that
	}{
		{3, 1, []int64{0, 3}},
		{1, 0, []int64{1, 3}},
		{2, 0, []int64{2, 3}},
		{5, 1, []int64{2, 5}},
		{4, 0, []int64{4, 5}},
		{1, 0, []int64{1, 2}}, // below both, by 3
		{2, 1, []int64{1, 2}},
		{0, 0, []int64{0, 1}},
	} {
		if got := arrive(s, step.rank); got[0] != step.queue {
			t.Errorf("packet %d, rank %d: queue %d, want %d", i, step.rank, got[0], step.queue)
		}
		for q, want := range step.bounds {
			if int64(s.bounds[q]) != want {
				t.Errorf("after packet %d bound %d is %d, want %d", i, q, int64(s.bounds[q]), want)
			}
		}
	}
	if got, want := leave(s), []int{1, 2, 4, 1, 0, 3, 5, 2}; !slices.Equal(got, want) {
		t.Errorf("they leave as %v, want %v", got, want)
	}
}

// TestSPPIFODepth: a full priority drops what it is to take, also while others have room,
// and bounds stay as they are then.
func TestSPPIFODepth(t *testing.T) {
	s := spPIFOOf(t, 2, 2)
	if got, want := arrive(s, 5, 5, 9, 3), []int{1, 1, -1, 0}; !slices.Equal(got, want) {
		t.Errorf("queues %v, want %v", got, want)
	}
	if int64(s.bounds[1]) != 5 {
		t.Errorf("a packet that was dropped moves a bound to %d", int64(s.bounds[1]))
	}
}

// TestSPPIFOOne: a single priority is a queue in the order of arrival.
func TestSPPIFOOne(t *testing.T) {
	s := spPIFOOf(t, 1, 0)
	arrive(s, 4, 2, 9, 2)
	if got, want := leave(s), []int{4, 2, 9, 2}; !slices.Equal(got, want) {
		t.Errorf("they leave as %v, want %v", got, want)
	}
}

// inversions counts the packets that leave while one of a smaller rank waits, in a bottleneck
// that is filled with ranks from 0 to 99.
func inversions(s Scheduler) (count int) {
	rng := rand.New(rand.NewPCG(1, 2))
	waiting := make([]int, 100)
	for range 200_000 {
		if rank := rng.IntN(100); arrive(s, rank)[0] >= 0 {
			waiting[rank]++
		}
		if rng.Float64() > 0.95 {
			continue
		}
		if s.(Sorter).Head() == nil {
			continue
		}
		rank := int(s.(Sorter).Take(0).Segment.Left)
		waiting[rank]--
		for _, n := range waiting[:rank] {
			if n > 0 {
				count++
				break
			}
		}
	}
	return count
}

// TestSPPIFOInversions: under uniform ranks 8 priorities leave about a third of the
// inversions of one queue in the order of arrival (the paper's figure on uniform
// ranks: 264,568 of 864,087 in the authors' data), and more priorities leave fewer.
func TestSPPIFOInversions(t *testing.T) {
	one, eight, many := inversions(spPIFOOf(t, 1, 80)), inversions(spPIFOOf(t, 8, 10)), inversions(spPIFOOf(t, 32, 10))
	t.Logf("%d with one priority, %d with 8, %d with 32", one, eight, many)
	if share := float64(eight) / float64(one); math.Abs(share-0.31) > 0.1 {
		t.Errorf("8 priorities leave %.2f of the inversions, want about 0.31", share)
	}
	if many >= eight {
		t.Errorf("%d inversions with 32 priorities, %d with 8", many, eight)
	}
}

// TestPacketRanks: what a packet's rank is.
func TestPacketRanks(t *testing.T) {
	first := &packet.Packet{Size: 1500, Hash: 1, Segment: packet.Segment{Left: 7000, Before: 3000}}
	other := &packet.Packet{Size: 500, Hash: 2, Segment: packet.Segment{Left: 10, Before: 4000}}
	for rank, want := range map[string][3]uint64{"srpt": {7000, 7000, 10}, "las": {3000, 3000, 4000}} {
		r := newPacketRanks(rank, 16, []int{1}, Env{Queues: 1, Lengths: packet.IP})
		for i, k := range []*packet.Packet{first, first, other} {
			if got := r.of(k); got != want[i] {
				t.Errorf("%s: packet %d has rank %d, want %d", rank, i, got, want[i])
			}
			r.joined(k, r.of(k))
		}
	}
	// In fair queueing a flow's next packet starts where its last one finishes, and that of
	// a new flow with the one in service.
	r := newPacketRanks("stfq", 16, []int{1}, Env{Queues: 1, Lengths: packet.IP})
	var starts []uint64
	for _, k := range []*packet.Packet{first, first, other, other} {
		starts = append(starts, r.of(k))
		r.joined(k, r.of(k))
	}
	if starts[0] != starts[2] || starts[1]-starts[0] != 3*(starts[3]-starts[2]) || starts[1] == starts[0] {
		t.Errorf("packets start at %v", starts)
	}
	r.served(starts[1])
	third := &packet.Packet{Size: 500, Hash: 3}
	if got := r.of(third); got != starts[1] {
		t.Errorf("a new flow starts at %d, want %d", got, starts[1])
	}
}

// TestPacketPIFO: packets leave by rank, those of equal rank in the order of arrival. One
// that finds no room takes the place of the one that goes last, if it goes before that.
func TestPacketPIFO(t *testing.T) {
	s, err := Table().New("pifo", map[string]any{"rank": "srpt", "by": "packet"}, Env{Queues: 1})
	if err != nil {
		t.Fatal(err)
	}
	sorter, evictor := s.(Sorter), s.(Evictor)
	for i, rank := range []int{5, 1, 9, 5, 9, 3, 0} {
		k := ranked(rank)
		k.Src = int32(i)
		sorter.Hold(0, 0, k)
	}
	for _, arriving := range []int{9, 12} {
		if k := evictor.Evict(ranked(arriving)); k != nil {
			t.Errorf("rank %d pushes out %d", arriving, k.Segment.Left)
		}
	}
	if k := evictor.Evict(ranked(8)); k == nil || k.Segment.Left != 9 || k.Src != 4 {
		t.Errorf("rank 8 pushes out %+v, want the last 9", k)
	}
	var order []int32
	for sorter.Head() != nil {
		order = append(order, sorter.Take(0).Src)
	}
	if want := []int32{6, 1, 5, 0, 3, 2}; !slices.Equal(order, want) {
		t.Errorf("packets leave as %v, want %v", order, want)
	}
	if evictor.Evict(ranked(0)) != nil || sorter.Take(0) != nil {
		t.Error("something is left")
	}
}

// TestPacketPIFOSorts: whatever is pushed out, what is left leaves in order.
func TestPacketPIFOSorts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := newPackets(newPacketRanks(rankSRPT, 2, []int{1}, Env{Queues: 1, Lengths: packet.IP}), classes{queues: 1})
	var held []int
	for range 3000 {
		switch rank := rng.IntN(500); {
		case len(held) < 60:
			s.Hold(0, 0, ranked(rank))
			held = append(held, rank)
		default:
			slices.Sort(held)
			k := s.Evict(ranked(rank))
			if largest := held[59]; (k != nil) != (rank < largest) || k != nil && int(k.Segment.Left) != largest {
				t.Fatalf("rank %d pushes out %v of %v", rank, k, held)
			}
			if k != nil {
				held = held[:59]
			}
		}
		if rng.IntN(3) == 0 && len(held) > 0 {
			slices.Sort(held)
			if k := s.Take(0); int(k.Segment.Left) != held[0] {
				t.Fatalf("rank %d leaves first of %v", k.Segment.Left, held)
			}
			held = held[1:]
		}
	}
}

func TestBadPacketRanks(t *testing.T) {
	for want, c := range map[string]struct {
		kind   string
		params map[string]any
	}{
		"by: packets carry no deadline: rank lstf wants by class or flow": {"pifo", map[string]any{"rank": "lstf", "by": "packet", "slacks": []any{"1ms"}}},
		"rank: unknown name \"lstf\"":                                     {"sp-pifo", map[string]any{"rank": "lstf"}},
		"priorities: 0 is outside":                                        {"sp-pifo", map[string]any{"priorities": 0}},
		"k: 1 is outside":                                                 {"aifo", map[string]any{"k": 1}},
		"capacity: 2KB is more than the buffer of 1KB":                    {"aifo", map[string]any{"capacity": "2KB"}},
	} {
		if _, err := Table().New(c.kind, c.params, Env{Queues: 1, Buffer: 1000}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %v: got %v, want one that says %s", c.kind, c.params, err, want)
		}
	}
}
