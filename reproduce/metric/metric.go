// Package metric computes the figures that claims are about: of what a point
// measured, or of a switch's arithmetic alone. It judges nothing.
package metric

import (
	"math"
	"slices"

	"aqmlab/kind"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
	"aqmlab/results/compare"
)

// Kind is a kind of figure: of one point, or of a switch's arithmetic.
type Kind struct {
	Name, Doc string
	// Compute is the figure of a point. Its error wraps [ErrNothing] where the point
	// has none.
	Compute func(Subject) (float64, error)
	// Arithmetic is what code of the switch computes without a run: for the baseline,
	// if the claims have one, and for the scheme. Either it or Compute is set.
	Arithmetic func() (from, to float64)
	// Paired is what [compare.Points] has of the flows that both schemes completed:
	// differences of it come with an interval that pairs flow with flow.
	Paired compare.Metric
	// Only tells which flows are paired, where they are not those of the claim's class.
	Only    func(results.Flow) bool
	Samples bool // it needs the samples of queues
	Total   bool // it grows with the number of flows
}

// Kinds is the table of what claims may be about. To add a kind: a row, a function,
// a test.
func Kinds() []Kind {
	return []Kind{
		{Name: "fct-mean", Doc: "mean flow completion time of a size class, us", Compute: statistic(Subject.fct, meanTime), Paired: compare.Mean},
		{Name: "fct-p99", Doc: "99th percentile of the same, us", Compute: statistic(Subject.fct, p99Time), Paired: compare.P99},
		{Name: "timeouts", Doc: "retransmission timeouts of all hosts", Compute: timeouts, Total: true},
		{Name: "class-timeouts", Doc: "retransmission timeouts of the flows of a size class", Compute: classTimeouts, Total: true},
		{Name: "class-timed-out", Doc: "share of the flows of a size class that met a timeout or more, %", Compute: classTimedOut},
		{Name: "fct-mean-above-100kb", Doc: "mean flow completion time of all flows that are not small, us", Compute: meanAbove, Paired: compare.Mean, Only: notSmall},
		{Name: "bytes-below-10mb", Doc: "share of the bytes asked for that belong to flows below 10 MB, %", Compute: shareBelow(10_000_000, byBytes, ErrNothing)},
		{Name: "small-below-24kb", Doc: "share of the small flows that are below 24 KB, %", Compute: shareBelow(24_000, ifSmall, nothing("there are no small flows"))},
		{Name: "queue-median", Doc: "median length of a queue within a window, KB", Compute: statistic(Subject.queue, medianLength), Samples: true},
		{Name: "queue-drops", Doc: "packets that a queue dropped within a window", Compute: statistic(Subject.queue, queueDrops), Samples: true},
		{Name: "loss-fanout", Doc: "responses to a query from which on the port drops packets", Compute: lossFanout, Samples: true},
		{Name: "queue-peak", Doc: "largest queue of a port, KB", Compute: queuePeak},
		{Name: "queue-window-peak", Doc: "the same within a window, KB", Compute: statistic(Subject.queue, peakLength), Samples: true},
		{Name: "queue-goodput", Doc: "payload that left a queue within a window, Mbps", Compute: queueRate(payload), Samples: true},
		{Name: "port-goodput", Doc: "payload that left all queues of a port within a window, Mbps", Compute: portRate(payload), Samples: true},
		{Name: "queue-goodput-growth", Doc: "smallest ratio of the goodputs of a queue in neighbouring windows", Compute: goodputGrowth, Samples: true},
		{Name: "queue-share-of-next", Doc: "goodput of a queue over that of the next within a window", Compute: shareOfNext, Samples: true},
		{Name: "queue-rate", Doc: "what a queue took of the link within a window, framing included, Mbps", Compute: queueRate(onWire), Samples: true},
		{Name: "utilisation", Doc: "what all queues of a port took of its link within a window, %", Compute: portRate(ofLink), Samples: true},
		{Name: "share-convergence", Doc: "time from a window's start until a queue's rate stays within 10 % of that in the window's second half, ms", Compute: convergence, Samples: true},
		{Name: "rtt-mean", Doc: "mean RTT of a probe, within a window if the claim has one, us", Compute: statistic(Subject.rtt, meanTime)},
		{Name: "rtt-p99", Doc: "99th percentile of the same, us", Compute: statistic(Subject.rtt, p99Time)},
		{Name: "rtt-mean-growth", Doc: "smallest ratio of the mean RTTs of a probe in neighbouring windows", Compute: rttGrowth},
		{Name: "rtt-above-base", Doc: "mean RTT of a probe less the lab's base RTT, us", Compute: rttAboveBase},
		{Name: "query-fct-p1", Doc: "1st percentile of the completion times of a query's flows, mean over queries, us", Compute: perQuery(queryFCT(0.01))},
		{Name: "query-fct-p50", Doc: "median of the same", Compute: perQuery(queryFCT(0.5))},
		{Name: "query-fct-p99", Doc: "99th percentile of the same", Compute: perQuery(queryFCT(0.99))},
		{Name: "query-fct-p50-growth", Doc: "smallest ratio of the medians of neighbouring queries", Compute: queryMedianGrowth},
		{Name: "query-goodput", Doc: "payload of a query over its completion time, mean over queries, Mbps", Compute: perQuery(queryGoodput)},
		{Name: "query-goodput-of-others", Doc: "goodput of the queries within windows over that of the others", Compute: goodputOfOthers},
		{Name: "query-queue", Doc: "mean length of a queue while a query lasts, mean over queries, KB", Compute: queryQueue, Samples: true},
		{Name: "query-queue-with-held", Doc: "that and the most that the held ACKs ever took, over that", Compute: queueWithHeld, Samples: true},
		{Name: "drops", Doc: "packets that switches dropped", Compute: drops, Total: true},
		{Name: "drops-of-worst-switch", Doc: "packets that the switch dropped that dropped most", Compute: dropsOfWorst, Total: true},
		{Name: "flow-goodput", Doc: "payload of a flow of a size class over its completion time, mean over flows, Mbps", Compute: statistic(Subject.goodputs, mean)},
		{Name: "flow-goodput-largest", Doc: "largest of the same", Compute: statistic(Subject.goodputs, slices.Max)},
		{Name: "goodput-ratio", Doc: "mean goodput of the flows that speak the hosts' own transport over that of the others", Compute: goodputRatio},
		{Name: "class-wait", Doc: "mean time that the packets of a DSCP waited in the queues of a port, us", Compute: statistic(Subject.ofClass, classWait)},
		{Name: "class-drops", Doc: "packets of a DSCP that a port dropped", Compute: statistic(Subject.ofClass, classDrops), Total: true},
		{Name: "rate-samples", Doc: "measurements of a queue's drain rate by its scheme within a window", Compute: rateSamples, Samples: true},
		{Name: "rate-sample-min", Doc: "smallest of them, framing included, Gbps", Compute: estimate(math.Min, single), Samples: true},
		{Name: "rate-sample-max", Doc: "largest of them, framing included, Gbps", Compute: estimate(math.Max, single), Samples: true},
		{Name: "rate-estimate", Doc: "lowest of what the scheme made of them, framing included, Gbps", Compute: estimate(math.Min, smoothed), Samples: true},
		{Name: "rate-convergence", Doc: "time from a window's start until that is within 1 % of what the queue took of the link in the window's second half, us", Compute: rateConvergence, Samples: true},
		{Name: "stamp-wrap", Doc: "time in which the lower 32 bits of ECN#'s time stamps on Tofino wrap, s", Arithmetic: stampWrap},
		{Name: "clock-wrap", Doc: "time in which ECN#'s clock of 32 bits on Tofino wraps, s", Arithmetic: clockWrap},
		{Name: "register-memory", Doc: "memory of ECN#'s registers on Tofino for 128 ports, KB", Arithmetic: registerMemory},
		{Name: "quotient", Doc: "how far pst_interval over the number of marks from ECN#'s table on Tofino is off the quotient, on average over the counts that the paper draws: 100 and that more", Arithmetic: quotient},
	}
}

// Find finds a kind by its name. The error for an unknown one lists them.
func Find(name string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, kind.Unknown("metric", name, names)
}

// NeedsRuns tells whether a claim is judged by what was run.
func NeedsRuns(c papers.Claim) bool {
	k, _ := Find(c.Metric)
	return c.Unmeasured == "" && k.Arithmetic == nil
}
