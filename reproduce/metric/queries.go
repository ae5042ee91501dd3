package metric

import (
	"math"
	"slices"
	"time"

	"aqmlab/reproduce/papers"
	"aqmlab/results"
	"aqmlab/switch/packet"
)

// perQuery is the metric of the mean over the claim's queries, each of which
// counts the same.
func perQuery(figure func(Subject, results.Query) (float64, error)) compute {
	return statistic(func(s Subject) ([]float64, error) { return s.perQuery(figure) }, mean)
}

// perQuery is a figure of each of the claim's queries: those that start within its
// windows, or without windows all. Each must have completed.
func (s Subject) perQuery(figure func(Subject, results.Query) (float64, error)) ([]float64, error) {
	var values []float64
	for _, q := range results.QueriesOf(s.Point.Flows) {
		if len(s.Windows) > 0 && !s.begins(q) {
			continue
		}
		if !q.Complete {
			return nil, nothing("a flow of query %d did not complete", q.ID)
		}
		v, err := figure(s, q)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	if len(values) == 0 {
		return nil, nothing("there are no queries")
	}
	return values, nil
}

// begins tells whether a query starts in a window of the claim.
func (s Subject) begins(q results.Query) bool {
	return slices.ContainsFunc(s.Windows, func(w papers.Window) bool { return w.Begins(q.Start) })
}

// queryFCT is a percentile in (0, 1] of the completion times of a query's flows,
// in us.
func queryFCT(p float64) func(Subject, results.Query) (float64, error) {
	return func(s Subject, q results.Query) (float64, error) {
		var us []float64
		for _, f := range s.Point.Flows {
			if f.Query == q.ID {
				us = append(us, float64(f.FCT.Nanoseconds())/1000)
			}
		}
		slices.Sort(us)
		return results.Percentile(us, p), nil
	}
}

func queryMedianGrowth(s Subject) (float64, error) {
	medians, err := s.perQuery(queryFCT(0.5))
	if err != nil {
		return 0, err
	}
	return growth(medians, "queries")
}

// queryGoodput is the payload of a query over its completion time, in Mbps.
func queryGoodput(_ Subject, q results.Query) (float64, error) {
	return float64(q.Bytes) * 8 / q.QCT.Seconds() / 1e6, nil
}

func goodputOfOthers(s Subject) (float64, error) {
	mine, err := s.perQuery(queryGoodput)
	if err != nil {
		return 0, err
	}
	var others []float64
	for _, q := range results.QueriesOf(s.Point.Flows) {
		if q.Complete && !s.begins(q) {
			v, _ := queryGoodput(s, q)
			others = append(others, v)
		}
	}
	if len(others) == 0 {
		return 0, nothing("there are no other queries")
	}
	return mean(mine) / mean(others), nil
}

// queueOfQuery is the mean length in bytes of the claim's queue over a query's
// time. An empty queue has no samples, so the samples are counted by the clock.
func queueOfQuery(s Subject, q results.Query) (float64, error) {
	sum, every := 0.0, s.samplingInterval()
	during := papers.Window{From: q.Sent, To: q.Sent + q.QCT}
	for _, sample := range s.Point.Queues {
		if s.ofQueue(sample) && during.Ends(sample.At) {
			sum += float64(sample.Bytes)
		}
	}
	if every == 0 || sum == 0 {
		return 0, nothing("no samples of queue %d to %s during query %d", s.Queue, s.Port, q.ID)
	}
	return sum / float64(during.To/every-during.From/every), nil
}

// samplingInterval is the time between two samples of the claim's queue, all of
// which are at multiples of it: the shortest that there is.
func (s Subject) samplingInterval() (every time.Duration) {
	last := time.Duration(-1)
	for _, q := range s.Point.Queues {
		if gap := q.At - last; s.ofQueue(q) {
			if last >= 0 && (every == 0 || gap < every) {
				every = gap
			}
			last = q.At
		}
	}
	return every
}

func queryQueue(s Subject) (float64, error) {
	bytes, err := perQuery(queueOfQuery)(s)
	return bytes / 1000, err
}

func queueWithHeld(s Subject) (float64, error) {
	queue, err := perQuery(queueOfQuery)(s)
	if err != nil {
		return 0, err
	}
	for _, gate := range s.Point.Ingress {
		if gate.Port == s.Port {
			return (queue + float64(gate.PeakPackets*packet.TCPHeaders)) / queue, nil
		}
	}
	return 0, nothing("the port to %s holds no ACKs", s.Port)
}

// lossFanout is the number of responses to a query from which on the port drops
// packets of any queue, during that query and all larger ones: other traffic may
// make it drop some now and then. It is infinite when not even the largest query
// lost packets.
func lossFanout(s Subject) (float64, error) {
	lossless, seen := 0, false
	var lossy []int
	for _, query := range results.QueriesOf(s.Point.Flows) {
		drops, ok := s.dropsDuring(query)
		seen = seen || ok
		if drops > 0 {
			lossy = append(lossy, query.Flows)
		} else if ok {
			lossless = max(lossless, query.Flows)
		}
	}
	if !seen {
		return 0, nothing("no query completed while the port to %s was sampled", s.Port)
	}
	lossy = slices.DeleteFunc(lossy, func(fanOut int) bool { return fanOut <= lossless })
	if len(lossy) == 0 {
		return math.Inf(1), nil
	}
	return float64(slices.Min(lossy)), nil
}

// dropsDuring counts what the port dropped from the start of a query that
// completed until the first sample after its end, which tells of the time
// before.
func (s Subject) dropsDuring(query results.Query) (drops int64, ok bool) {
	end := time.Duration(-1)
	for _, q := range s.Point.Queues {
		if q.Port == s.Port && q.At >= query.Sent+query.QCT && (end < 0 || q.At < end) {
			end = q.At
		}
	}
	for _, q := range s.Point.Queues {
		if q.Port == s.Port && q.At > query.Sent && q.At <= end {
			drops, ok = drops+q.Drops, true
		}
	}
	return drops, ok && query.Complete
}
