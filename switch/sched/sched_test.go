package sched

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
)

// queues is a set of queues of packet sizes, seen by a scheduler as heads.
type queues [][]int

func (qs queues) HeadSize(q int) int {
	if len(qs[q]) == 0 {
		return 0
	}
	return qs[q][0]
}

// rig is a scheduler on its queues.
type rig struct {
	queues
	s   Scheduler
	now time.Duration
}

func newRig(t testing.TB, n int, name string, params map[string]any) *rig {
	t.Helper()
	return newRigTold(t, n, kind.Choice{Kind: name, Params: params}, nil)
}

// newRigTold is a rig that tells the ends of turns.
func newRigTold(t testing.TB, n int, c kind.Choice, ended func(time.Duration, int, bool)) *rig {
	t.Helper()
	r := &rig{queues: make(queues, n)}
	s, err := Table().New(c.Kind, c.Params, Env{Queues: n, Heads: r, FullPacket: 1500, TurnEnded: ended, Schedulers: Table()})
	if err != nil {
		t.Fatal(err)
	}
	r.s = s
	return r
}

func (r *rig) push(q int, sizes ...int) {
	for _, size := range sizes {
		r.queues[q] = append(r.queues[q], size)
		sorter, ok := r.s.(Sorter)
		if !ok {
			r.s.Enqueued(r.now, q, size)
			continue
		}
		k := &packet.Packet{Size: int32(size), DSCP: uint8(q), Hash: uint32(q)}
		if c, ok := r.s.(Classifier); ok {
			q = c.Queue(k)
		}
		sorter.Hold(r.now, q, k)
	}
}

// pop serves one packet, and returns its queue, or -1.
func (r *rig) pop() int {
	q, ok := r.s.Next(r.now)
	if !ok {
		return -1
	}
	size := r.queues[q][0]
	r.queues[q] = r.queues[q][1:]
	if sorter, ok := r.s.(Sorter); ok {
		sorter.Take(r.now)
	} else {
		r.s.Sent(r.now, q, size)
	}
	return q
}

func (r *rig) drain() []int {
	var order []int
	for q := r.pop(); q >= 0; q = r.pop() {
		order = append(order, q)
	}
	return order
}

// choices are all disciplines that the conformance tests build: every row of
// the table, its variants and compositions.
func choices() []kind.Choice {
	var cs []kind.Choice
	for _, name := range Table().Names() {
		cs = append(cs, kind.Choice{Kind: name})
	}
	over := func(strict int, inner map[string]any) kind.Choice {
		return kind.Choice{Kind: "sp", Params: map[string]any{"strict": strict, "inner": inner}}
	}
	slacks := slices.Repeat([]any{"1ms"}, 64)
	return append(cs,
		kind.Choice{Kind: "wfq", Params: map[string]any{"virtual_time": "kernel"}},
		kind.Choice{Kind: "pifo", Params: map[string]any{"rank": "srpt"}},
		kind.Choice{Kind: "pifo", Params: map[string]any{"rank": "lstf", "slacks": slacks}},
		over(1, map[string]any{"kind": "dwrr"}),
		over(2, map[string]any{"kind": "wrr"}),
		over(3, map[string]any{"kind": "wfq"}),
		over(1, map[string]any{"kind": "pifo"}),
		over(63, map[string]any{"kind": "fifo"}),
	)
}

// queuesOf is how many queues a choice is tested with.
func queuesOf(c kind.Choice) int {
	if c.Kind == "fifo" {
		return 1
	}
	return 64
}

// TestEveryScheduler is what each discipline must satisfy: work conservation,
// the same answer when asked twice, as many packets out of a queue as in.
func TestEveryScheduler(t *testing.T) {
	for _, c := range choices() {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			n := queuesOf(c)
			r := newRigTold(t, n, c, nil)
			rng := rand.New(rand.NewPCG(3, 4))
			held := 0
			for range 20000 {
				r.now += time.Duration(rng.IntN(1000))
				if rng.IntN(2) == 0 {
					r.push(rng.IntN(n), 40+rng.IntN(1461))
					held++
				}
				first, ok := r.s.Next(r.now)
				second, again := r.s.Next(r.now)
				if ok != (held > 0) || ok != again || first != second && ok {
					t.Fatalf("%d packets held: Next says (%d, %v), then (%d, %v)", held, first, ok, second, again)
				}
				if ok && r.HeadSize(first) == 0 {
					t.Fatalf("chose queue %d, which is empty", first)
				}
				if ok && rng.IntN(2) == 0 {
					r.pop()
					held--
				}
			}
			if got := len(r.drain()); got != held {
				t.Errorf("served %d of the last %d packets", got, held)
			}
		})
	}
}

func TestTableRows(t *testing.T) {
	for _, k := range Table() {
		if k.Doc == "" || strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%s: doc line %q", k.Name, k.Doc)
		}
		if _, err := Table().New(k.Name, map[string]any{"no_such_parameter": 1}, Env{Queues: 1}); err == nil {
			t.Errorf("%s accepts an unknown parameter", k.Name)
		}
	}
}

// TestShares: while all queues are busy each gets its weight's part of the link.
// The service over the weight of two queues differs at every moment by no more
// than a packet of each (fair queueing), and a turn of weight 1 (DWRR: MQ-ECN,
// section 3.3.2). Under the kernel's rule queues that become busy together start
// behind one another, a packet each.
func TestShares(t *testing.T) {
	weights := []int{2, 1, 3, 4}
	wide := slices.Concat(slices.Repeat([]int{1}, 32), slices.Repeat([]int{5}, 32))
	kernel := map[string]any{"virtual_time": "kernel"}
	for name, tt := range map[string]struct {
		choice  kind.Choice
		weights []int
		extra   float64 // bytes of weight 1 beyond a packet of each queue
	}{
		"dwrr":       {kind.Choice{Kind: "dwrr"}, weights, 1500},
		"wfq":        {kind.Choice{Kind: "wfq"}, weights, 0},
		"wfq kernel": {kind.Choice{Kind: "wfq", Params: kernel}, weights, 1500.0/2 + 1500 + 1500.0/3 + 1500.0/4},
		"stfq":       {kind.Choice{Kind: "pifo"}, weights, 0},
		"dwrr wide":  {kind.Choice{Kind: "dwrr"}, wide, 1500},
		"wfq wide":   {kind.Choice{Kind: "wfq"}, wide, 0},
		"stfq wide":  {kind.Choice{Kind: "pifo"}, wide, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := kind.Choice{Kind: tt.choice.Kind, Params: maps.Clone(tt.choice.Params)}
			if c.Params == nil {
				c.Params = map[string]any{}
			}
			c.Params["weights"] = tt.weights
			n := len(tt.weights)
			r := newRigTold(t, n, c, nil)
			if got := Weights(r.s, n); !slices.Equal(got, tt.weights) {
				t.Fatalf("weights %v, want %v", got, tt.weights)
			}
			rng := rand.New(rand.NewPCG(5, 6))
			sent := make([]int, n)
			for q := range n {
				r.push(q, 40+rng.IntN(1461), 40+rng.IntN(1461))
			}
			for i := range 100000 {
				q, _ := r.s.Next(0)
				sent[q] += r.HeadSize(q)
				r.pop()
				r.push(q, 40+rng.IntN(1461)) // never empties
				if i%97 != 0 {
					continue
				}
				for a := range n {
					b := (a + 1) % n
					diff := float64(sent[a])/float64(tt.weights[a]) - float64(sent[b])/float64(tt.weights[b])
					limit := 1500/float64(tt.weights[a]) + 1500/float64(tt.weights[b]) + tt.extra
					if math.Abs(diff) > limit {
						t.Fatalf("after %d packets queues %d and %d are %.0f bytes of weight 1 apart, want at most %.0f", i, a, b, diff, limit)
					}
				}
			}
		})
	}
}

// TestNoAllocation: a scheduler allocates nothing once its queues have been as
// long as they get.
func TestNoAllocation(t *testing.T) {
	for _, c := range choices() {
		r := &flat{sizes: make([]int, queuesOf(c))}
		s, err := Table().New(c.Kind, c.Params, Env{Queues: len(r.sizes), Heads: r, FullPacket: 1500, Schedulers: Table()})
		if err != nil {
			t.Fatal(err)
		}
		r.s = s
		for range 4 * len(r.sizes) {
			r.arrive()
		}
		if got := testing.AllocsPerRun(10000, func() { r.arrive(); r.depart() }); got != 0 {
			t.Errorf("%v: %v allocations a packet", c, got)
		}
	}
}

// flat is queues of packets of 1000 bytes, of which only the number counts.
type flat struct {
	s     Scheduler
	sizes []int // packets of each queue
	next  int
}

func (f *flat) HeadSize(q int) int {
	if f.sizes[q] == 0 {
		return 0
	}
	return 1000
}

func (f *flat) arrive() {
	f.next = (f.next + 1) % len(f.sizes)
	f.sizes[f.next]++
	f.s.Enqueued(0, f.next, 1000)
}

func (f *flat) depart() {
	q, _ := f.s.Next(0)
	f.sizes[q]--
	f.s.Sent(0, q, 1000)
}

func TestFIFOHasOneQueue(t *testing.T) {
	if _, err := Table().New("fifo", nil, Env{Queues: 2}); err == nil {
		t.Error("a fifo of two queues was built")
	}
}
