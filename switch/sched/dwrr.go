package sched

import "aqmlab/units"

// DWRR is deficit weighted round robin (Shreedhar and Varghese, SIGCOMM 1995)
// as the papers use it (TCN, section 5; MQ-ECN, section 3.3.2).
type DWRR struct {
	Quantum units.Size `lab:"quantum" doc:"bytes that a queue of weight 1 may send a round; at least the MTU"`
	Weights []int      `lab:"weights" doc:"multiples of the quantum, one a queue; all 1 when absent"`
}

func newDWRR(p DWRR, env Env) (Scheduler, error) {
	return newRoundRobin(turns{quantum: p.Quantum, weights: p.Weights, carry: true}, env)
}
