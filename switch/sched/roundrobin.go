package sched

import (
	"cmp"
	"slices"
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// roundRobin keeps the active queues in a ring. The queue at its front has the
// turn. When a turn starts the queue's deficit grows by its quantum; the turn
// ends when the head does not fit the deficit (the rest is kept if carry is set)
// or when the queue is empty (the rest is lost).
type roundRobin struct {
	carry   bool // a queue keeps what a turn left of its quantum
	heads   Heads
	weights []int
	quantum []int
	deficit []int
	active  []bool
	granted bool  // the queue at the front has had this turn's quantum
	ring    []int // queue numbers; room for all of them
	front   int
	count   int
	ended   func(now time.Duration, q int, emptied bool)
}

var (
	_ Scheduler = (*roundRobin)(nil)
	_ Weighted  = (*roundRobin)(nil)
	_ Rounds    = (*roundRobin)(nil)
)

func newRoundRobin(p RoundRobin, carry bool, env Env) (Scheduler, error) {
	weights, err := weightsFor(p.Weights, env.Queues)
	if err != nil {
		return nil, err
	}
	quantum := cmp.Or(int(p.Quantum), env.FullPacket)
	if quantum == 0 {
		return nil, kind.Invalid("quantum", "missing: want a size such as 1538B")
	}
	r := &roundRobin{
		carry:   carry,
		heads:   env.Heads,
		weights: weights,
		quantum: make([]int, env.Queues),
		deficit: make([]int, env.Queues),
		active:  make([]bool, env.Queues),
		ring:    make([]int, env.Queues),
		ended:   env.TurnEnded,
	}
	for q, w := range weights {
		r.quantum[q] = w * quantum
	}
	return r, nil
}

// weightsFor checks one weight a queue, and makes equal ones when there are none.
func weightsFor(weights []int, queues int) ([]int, error) {
	if len(weights) == 0 {
		return slices.Repeat([]int{1}, queues), nil
	}
	if len(weights) != queues {
		return nil, kind.Invalid("weights", "%d weights for %d queues", len(weights), queues)
	}
	return weights, nil
}

func (r *roundRobin) Weights() []int { return r.weights }
func (r *roundRobin) Quanta() []int  { return r.quantum }

func (r *roundRobin) Enqueued(_ time.Duration, q, _ int) {
	if r.active[q] {
		return
	}
	r.active[q] = true
	r.deficit[q] = 0
	r.append(q)
}

func (r *roundRobin) Next(now time.Duration) (int, bool) {
	if r.count == 0 {
		return 0, false
	}
	for {
		q := r.ring[r.front]
		if !r.granted {
			r.deficit[q] += r.quantum[q]
			r.granted = true
		}
		if r.heads.HeadSize(q) <= r.deficit[q] || r.oversized(q) {
			return q, true
		}
		if !r.carry {
			r.deficit[q] = 0
		}
		r.endTurn(now, q, false)
		r.append(q)
	}
}

// oversized tells of a queue at the start of its turn whether no turn lets its
// head go.
func (r *roundRobin) oversized(q int) bool { return !r.carry && r.deficit[q] == r.quantum[q] }

func (r *roundRobin) Sent(now time.Duration, q, size int) {
	r.deficit[q] -= size
	if r.heads.HeadSize(q) == 0 {
		r.active[q] = false
		r.endTurn(now, q, true)
	}
}

// endTurn takes the queue with the turn out of the ring.
func (r *roundRobin) endTurn(now time.Duration, q int, emptied bool) {
	if r.ended != nil {
		r.ended(now, q, emptied)
	}
	r.granted = false
	r.front = (r.front + 1) % len(r.ring)
	r.count--
}

func (r *roundRobin) append(q int) {
	r.ring[(r.front+r.count)%len(r.ring)] = q
	r.count++
}

// RoundRobin are the parameters of both round robins.
type RoundRobin struct {
	Quantum units.Size `lab:"quantum" range:"1B..1000GB" doc:"bytes that a queue of weight 1 may send a round, at least a full packet; a full packet when absent"`
	Weights []int      `lab:"weights" range:"1..1000000000" doc:"multiples of the quantum, one a queue; all 1 when absent"`
}

// newDWRR is deficit weighted round robin (Shreedhar and Varghese, SIGCOMM 1995)
// as the papers use it (TCN, section 5; MQ-ECN, section 3.3.2).
func newDWRR(p RoundRobin, env Env) (Scheduler, error) { return newRoundRobin(p, true, env) }

// newWRR is weighted round robin in bytes (MQ-ECN, sections 3.3.2 and 4.2): in
// every round a queue may send at most its quantum. It is DWRR without a memory
// of what an earlier turn left over. A packet larger than the quantum of its
// queue takes a turn of its own, since no later turn would let it go.
func newWRR(p RoundRobin, env Env) (Scheduler, error) { return newRoundRobin(p, false, env) }
