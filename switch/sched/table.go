package sched

import (
	"time"

	"aqmlab/kind"
)

// Kind is a row of the table of schedulers.
type Kind = kind.Kind[Env, Scheduler]

// Table lists every scheduler that ships with aqmlab.
func Table() kind.Table[Env, Scheduler] {
	return kind.Table[Env, Scheduler]{
		kind.Row("fifo", "one queue in the order of arrival", struct{}{}, newFIFO),
		kind.Row("dwrr", "deficit weighted round robin: each queue sends its quantum in turn", RoundRobin{}, newDWRR),
		kind.Row("wrr", "weighted round robin in bytes: what a turn leaves of its quantum is lost", RoundRobin{}, newWRR),
		kind.Row("wfq", "weighted fair queueing: the head with the earliest virtual finish leaves next", WFQ{VirtualTime: selfClocked}, newWFQ),
		kind.Row("sp", "strict priority: queue 0 first, alone or above an inner scheduler", SP{}, newSP),
		kind.Row("pifo", "push-in first-out: packets leave in the order of ranks given on arrival", PIFO{Rank: rankSTFQ, By: byClass, Slack: slackOfHop, Flows: 1024, Gap: 500 * time.Microsecond}, newPIFO),
		kind.Row("fq", "fair queueing of flows, new ones first (DRR++): with aqm codel it is FQ-CoDel", FQ{Flows: 1024, DropBatch: 64}, newFQ),
		kind.Row("sp-pifo", "strict priorities whose bounds follow the ranks of packets, which come near a pifo's order", SPPIFO{Rank: rankSRPT, Priorities: 8, Depth: 10, Flows: 1024}, newSPPIFO),
		kind.Row("aifo", "one queue in the order of arrival, which admits packets by how their rank compares with recent ones", AIFO{Rank: rankSRPT, K: 0.1, Window: 20, Sample: 15, Flows: 1024}, newAIFO),
		kind.Row("dualq", "a low-latency and a classic queue by the ECN field of packets: with aqm dualpi2 it is DualPI2", DualQ{Low: lowECT, Order: orderWRR, Classic: defaultClassic}, newDualQ),
	}
}
