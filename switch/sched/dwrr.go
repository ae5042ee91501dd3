package sched

import (
	"slices"
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// DWRR is deficit weighted round robin (Shreedhar and Varghese, SIGCOMM 1995)
// as the papers use it (TCN, section 5; MQ-ECN, section 3.3.2).
type DWRR struct {
	Quantum units.Size `lab:"quantum" doc:"bytes that a queue of weight 1 may send a round; at least the MTU"`
	Weights []int      `lab:"weights" doc:"multiples of the quantum, one a queue; all 1 when absent"`
}

// dwrr keeps the active queues in a ring. The queue at its front has the turn.
// When a turn starts the queue's deficit grows by its quantum; the turn ends
// when the head does not fit the deficit (the rest is kept) or when the queue
// is empty (the rest is lost).
type dwrr struct {
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
	_ Scheduler = (*dwrr)(nil)
	_ Weighted  = (*dwrr)(nil)
	_ Rounds    = (*dwrr)(nil)
)

func newDWRR(p DWRR, env Env) (Scheduler, error) {
	if p.Quantum < 1 {
		return nil, kind.Invalid("quantum", "%v is not above zero", p.Quantum)
	}
	weights, err := weightsFor(p.Weights, env.Queues)
	if err != nil {
		return nil, err
	}
	d := &dwrr{
		heads:   env.Heads,
		weights: weights,
		quantum: make([]int, env.Queues),
		deficit: make([]int, env.Queues),
		active:  make([]bool, env.Queues),
		ring:    make([]int, env.Queues),
		ended:   env.TurnEnded,
	}
	for q, w := range weights {
		d.quantum[q] = w * int(p.Quantum)
	}
	return d, nil
}

// weightsFor checks one weight a queue, and makes equal ones when there are none.
func weightsFor(weights []int, queues int) ([]int, error) {
	if len(weights) == 0 {
		return slices.Repeat([]int{1}, queues), nil
	}
	if len(weights) != queues {
		return nil, kind.Invalid("weights", "%d weights for %d queues", len(weights), queues)
	}
	for _, w := range weights {
		if w < 1 {
			return nil, kind.Invalid("weights", "%d is not above zero", w)
		}
	}
	return weights, nil
}

func (d *dwrr) Weights() []int { return d.weights }
func (d *dwrr) Quanta() []int  { return d.quantum }

func (d *dwrr) Enqueued(_ time.Duration, q int) {
	if d.active[q] {
		return
	}
	d.active[q] = true
	d.deficit[q] = 0
	d.append(q)
}

func (d *dwrr) Next(now time.Duration) (int, bool) {
	if d.count == 0 {
		return 0, false
	}
	for {
		q := d.ring[d.front]
		if !d.granted {
			d.deficit[q] += d.quantum[q]
			d.granted = true
		}
		if d.heads.HeadSize(q) <= d.deficit[q] {
			return q, true
		}
		d.endTurn(now, q, false)
		d.append(q)
	}
}

func (d *dwrr) Sent(now time.Duration, q, size int) {
	d.deficit[q] -= size
	if d.heads.HeadSize(q) == 0 {
		d.active[q] = false
		d.endTurn(now, q, true)
	}
}

// endTurn takes the queue with the turn out of the ring.
func (d *dwrr) endTurn(now time.Duration, q int, emptied bool) {
	if d.ended != nil {
		d.ended(now, q, emptied)
	}
	d.granted = false
	d.front = (d.front + 1) % len(d.ring)
	d.count--
}

func (d *dwrr) append(q int) {
	d.ring[(d.front+d.count)%len(d.ring)] = q
	d.count++
}
