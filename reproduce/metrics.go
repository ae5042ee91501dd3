package reproduce

import (
	"errors"
	"fmt"
	"slices"

	"aqmlab/labs"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
)

// kindOfMetric computes a claim's figure from one stored point.
type kindOfMetric struct {
	name, doc string
	of        func(subject) (float64, error)
	// paired is what results.Compare has of the flows that both schemes completed:
	// differences of it come with an interval that pairs flow with flow.
	paired  results.Metric
	samples bool // it needs the samples of queues
	total   bool // it grows with the number of flows
}

// subject is what a metric is computed of.
type subject struct {
	papers.Claim
	point results.Point
	lab   *labs.Lab
}

// errNothing says that a point holds nothing that the metric is of.
var errNothing = errors.New("nothing of it was measured")

// metrics is the table of what claims may be about. To add a kind: a row, a
// function, a test.
func metrics() []kindOfMetric {
	return []kindOfMetric{
		{"fct-mean", "mean flow completion time of a size class, us", meanFCT, results.Mean, false, false},
		{"fct-p99", "99th percentile of the same, us", p99FCT, results.P99, false, false},
		{"timeouts", "retransmission timeouts of all hosts", timeouts, "", false, true},
		{"class-timeouts", "retransmission timeouts of the flows of a size class", classTimeouts, "", false, true},
		{"class-timed-out", "share of the flows of a size class that met a timeout or more, %", classTimedOut, "", false, false},
		{"fct-mean-above-100kb", "mean flow completion time of all flows that are not small, us", meanAbove, "", false, false},
		{"bytes-below-10mb", "share of the bytes asked for that belong to flows below 10 MB, %", bytesBelow, "", false, false},
		{"small-below-24kb", "share of the small flows that are below 24 KB, %", smallBelow, "", false, false},
		{"queue-median", "median length of a queue within a window, KB", queueMedian, "", true, false},
		{"queue-drops", "packets that a queue dropped within a window", queueDrops, "", true, false},
		{"loss-fanout", "responses to a query from which on the port drops packets", lossFanout, "", true, false},
		{"queue-peak", "largest queue of a port, KB", queuePeak, "", false, false},
		{"queue-window-peak", "the same within a window, KB", queueWindowPeak, "", true, false},
		{"queue-goodput", "payload that left a queue within a window, Mbps", queueGoodput, "", true, false},
		{"port-goodput", "payload that left all queues of a port within a window, Mbps", portGoodput, "", true, false},
		{"queue-goodput-growth", "smallest ratio of the goodputs of a queue in neighbouring windows", goodputGrowth, "", true, false},
		{"queue-share-of-next", "goodput of a queue over that of the next within a window", shareOfNext, "", true, false},
		{"queue-rate", "what a queue took of the link within a window, framing included, Mbps", queueRate, "", true, false},
		{"utilisation", "what all queues of a port took of its link within a window, %", utilisation, "", true, false},
		{"share-convergence", "time from a window's start until a queue's rate stays within 10 % of that in the window's second half, ms", convergence, "", true, false},
		{"rtt-mean", "mean RTT of a probe, within a window if the claim has one, us", meanRTT, "", false, false},
		{"rtt-p99", "99th percentile of the same, us", p99RTT, "", false, false},
		{"rtt-mean-growth", "smallest ratio of the mean RTTs of a probe in neighbouring windows", rttGrowth, "", false, false},
		{"rtt-above-base", "mean RTT of a probe less the lab's base RTT, us", rttAboveBase, "", false, false},
		{"query-fct-p1", "1st percentile of the completion times of a query's flows, mean over queries, us", queryFCT(0.01), "", false, false},
		{"query-fct-p50", "median of the same", queryFCT(0.5), "", false, false},
		{"query-fct-p99", "99th percentile of the same", queryFCT(0.99), "", false, false},
		{"query-fct-p50-growth", "smallest ratio of the medians of neighbouring queries", queryMedianGrowth, "", false, false},
		{"query-goodput", "payload of a query over its completion time, mean over queries, Mbps", queryGoodput, "", false, false},
		{"query-goodput-of-others", "goodput of the queries within windows over that of the others", goodputOfOthers, "", false, false},
		{"query-queue", "mean length of a queue while a query lasts, mean over queries, KB", queryQueue, "", true, false},
		{"query-queue-with-held", "that and the most that the held ACKs ever took, over that", queueWithHeld, "", true, false},
		{"drops", "packets that switches dropped", drops, "", false, true},
		{"drops-of-worst-switch", "packets that the switch dropped that dropped most", dropsOfWorst, "", false, true},
		{"flow-goodput", "payload of a flow of a size class over its completion time, mean over flows, Mbps", flowGoodput, "", false, false},
		{"flow-goodput-largest", "largest of the same", largestGoodput, "", false, false},
		{"rate-samples", "measurements of a queue's drain rate by its scheme within a window", rateSamples, "", true, false},
		{"rate-sample-min", "smallest of them, framing included, Gbps", lowestSample, "", true, false},
		{"rate-sample-max", "largest of them, framing included, Gbps", highestSample, "", true, false},
		{"rate-estimate", "lowest of what the scheme made of them, framing included, Gbps", lowestEstimate, "", true, false},
		{"rate-convergence", "time from a window's start until that is within 1 % of what the queue took of the link in the window's second half, us", rateConvergence, "", true, false},
	}
}

// metric finds a row.
func metric(name string) (kindOfMetric, bool) {
	all := metrics()
	i := slices.IndexFunc(all, func(m kindOfMetric) bool { return m.name == name })
	if i < 0 {
		return kindOfMetric{}, false
	}
	return all[i], true
}

func metricNames() []string {
	var names []string
	for _, m := range metrics() {
		names = append(names, m.name)
	}
	for _, a := range arithmetic() {
		names = append(names, a.name)
	}
	return names
}

func (s subject) fct() (results.FCT, error) {
	f := results.Summarize(s.point.Flows, results.Class(s.Class))
	if f.Count == 0 {
		return f, fmt.Errorf("%w: no flow of class %s completed", errNothing, s.Class)
	}
	return f, nil
}

func meanFCT(s subject) (float64, error) {
	f, err := s.fct()
	return f.Mean, err
}

func p99FCT(s subject) (float64, error) {
	f, err := s.fct()
	return f.P99, err
}

func bytesBelow(s subject) (float64, error) {
	const bound = 10_000_000
	below, all := 0.0, 0.0
	for _, f := range s.point.Flows {
		all += float64(f.Bytes)
		if f.Bytes < bound {
			below += float64(f.Bytes)
		}
	}
	if all == 0 {
		return 0, errNothing
	}
	return 100 * below / all, nil
}

// rtt sums up what the claim's probe measured: in a window, or without in all.
func (s subject) rtt(windows []papers.Window) (results.FCT, error) {
	var mine []results.ProbeSample
	for _, p := range s.point.Probes {
		if p.Probe == s.Probe && (len(windows) == 0 || p.At >= windows[0].From && p.At < windows[0].To) {
			mine = append(mine, p)
		}
	}
	for _, p := range results.SummarizeProbes(mine) {
		if p.RTT.Count > 0 {
			return p.RTT, nil
		}
	}
	return results.FCT{}, fmt.Errorf("%w: no answer to probe %s", errNothing, s.Probe)
}

func meanRTT(s subject) (float64, error) {
	r, err := s.rtt(s.Windows)
	return r.Mean, err
}

func p99RTT(s subject) (float64, error) {
	r, err := s.rtt(s.Windows)
	return r.P99, err
}

func rttAboveBase(s subject) (float64, error) {
	r, err := s.rtt(s.Windows)
	return r.Mean - float64(s.lab.RTT.Min.Nanoseconds())/1000, err
}
