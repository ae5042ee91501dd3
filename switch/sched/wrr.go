package sched

import "aqmlab/units"

// WRR is weighted round robin in bytes (MQ-ECN, sections 3.3.2 and 4.2): in
// every round a queue may send at most its quantum. It is DWRR without a memory
// of what an earlier turn left over. A packet larger than the quantum of its
// queue takes a turn of its own, since no later turn would let it go.
type WRR struct {
	Quantum units.Size `lab:"quantum" doc:"bytes that a queue of weight 1 may send a round; at least the MTU"`
	Weights []int      `lab:"weights" doc:"multiples of the quantum, one a queue; all 1 when absent"`
}

func newWRR(p WRR, env Env) (Scheduler, error) {
	return newRoundRobin(turns{quantum: p.Quantum, weights: p.Weights}, env)
}
