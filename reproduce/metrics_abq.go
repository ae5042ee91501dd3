package reproduce

import (
	"fmt"
	"math"
	"slices"
	"time"

	"aqmlab/results"
	"aqmlab/switch/packet"
)

// queries are those of the point that start within a window of the claim; all
// without windows. Each must have completed.
func (s subject) queries() ([]results.Query, error) {
	var chosen []results.Query
	for _, q := range results.QueriesOf(s.point.Flows) {
		if len(s.Windows) > 0 && !s.within(q) {
			continue
		}
		if !q.Complete {
			return nil, fmt.Errorf("%w: a flow of query %d did not complete", errNothing, q.ID)
		}
		chosen = append(chosen, q)
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("%w: there are no queries", errNothing)
	}
	return chosen, nil
}

// within tells whether a query starts in a window of the claim.
func (s subject) within(q results.Query) bool {
	for _, w := range s.Windows {
		if q.Start >= w.From && q.Start < w.To {
			return true
		}
	}
	return false
}

// overQueries is the mean over the queries, each of which counts the same.
func (s subject) overQueries(of func(results.Query) (float64, error)) (float64, error) {
	queries, err := s.queries()
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, q := range queries {
		v, err := of(q)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum / float64(len(queries)), nil
}

// percentile is that of the completion times of a query's flows, in us.
func (s subject) percentile(q results.Query, p float64) float64 {
	var us []float64
	for _, f := range s.point.Flows {
		if f.Query == q.ID {
			us = append(us, float64(f.FCT.Nanoseconds())/1000)
		}
	}
	slices.Sort(us)
	return results.Percentile(us, p)
}

// queryFCT is the metric of a percentile in (0, 1].
func queryFCT(p float64) func(subject) (float64, error) {
	return func(s subject) (float64, error) {
		return s.overQueries(func(q results.Query) (float64, error) { return s.percentile(q, p), nil })
	}
}

func queryMedianGrowth(s subject) (float64, error) {
	queries, err := s.queries()
	if err != nil {
		return 0, err
	}
	least := math.Inf(1)
	for i := 1; i < len(queries); i++ {
		least = min(least, s.percentile(queries[i], 0.5)/s.percentile(queries[i-1], 0.5))
	}
	if math.IsInf(least, 1) {
		return 0, fmt.Errorf("%w: fewer than two queries", errNothing)
	}
	return least, nil
}

// mbps is the goodput of a query: its payload over its completion time.
func mbps(q results.Query) (float64, error) {
	return float64(q.Bytes) * 8 / q.QCT.Seconds() / 1e6, nil
}

func queryGoodput(s subject) (float64, error) { return s.overQueries(mbps) }

func goodputOfOthers(s subject) (float64, error) {
	mine, err := s.overQueries(mbps)
	if err != nil {
		return 0, err
	}
	n, of := 0, 0.0
	for _, q := range results.QueriesOf(s.point.Flows) {
		if s.within(q) || !q.Complete {
			continue
		}
		v, _ := mbps(q)
		of += v
		n++
	}
	if n == 0 {
		return 0, fmt.Errorf("%w: there are no other queries", errNothing)
	}
	return mine / (of / float64(n)), nil
}

// queueOf is the mean length in bytes of the claim's queue over a query's time. A
// queue that was empty between two samples has none, so the samples are counted
// by the clock.
func (s subject) queueOf(q results.Query) (float64, error) {
	sum, every := 0.0, s.sampling()
	for _, sample := range s.point.Queues {
		if s.sampled(sample) && sample.At > q.Sent && sample.At <= q.Sent+q.QCT {
			sum += float64(sample.Bytes)
		}
	}
	if every == 0 || sum == 0 {
		return 0, fmt.Errorf("%w: no samples of queue %d to %s during query %d", errNothing, s.Queue, s.Port, q.ID)
	}
	return sum / float64((q.Sent+q.QCT)/every-q.Sent/every), nil
}

// sampling is the time between two samples of the claim's queue, all of which are
// at multiples of it: the shortest that there is.
func (s subject) sampling() (every time.Duration) {
	last := time.Duration(-1)
	for _, q := range s.point.Queues {
		if gap := q.At - last; s.sampled(q) {
			if last >= 0 && (every == 0 || gap < every) {
				every = gap
			}
			last = q.At
		}
	}
	return every
}

func queryQueue(s subject) (float64, error) {
	bytes, err := s.overQueries(s.queueOf)
	return bytes / 1000, err
}

func queueWithHeld(s subject) (float64, error) {
	queue, err := s.overQueries(s.queueOf)
	if err != nil {
		return 0, err
	}
	for _, gate := range s.point.Ingress {
		if gate.Port == s.Port {
			return (queue + float64(gate.PeakPackets*packet.TCPHeaders)) / queue, nil
		}
	}
	return 0, fmt.Errorf("%w: the port to %s holds no ACKs", errNothing, s.Port)
}

func drops(s subject) (float64, error) {
	return float64(results.CountsOf(s.point).Drops), nil
}

func dropsOfWorst(s subject) (float64, error) {
	bySwitch := map[string]int64{}
	most := int64(0)
	for _, p := range s.point.Ports {
		bySwitch[p.Switch] += p.DropsFull + p.DropsScheme
		most = max(most, bySwitch[p.Switch])
	}
	return float64(most), nil
}

// goodputs are those of the completed flows of the claim's class, in Mbps.
func (s subject) goodputs() ([]float64, error) {
	var all []float64
	for _, f := range s.point.Flows {
		if f.Completed() && results.Class(s.Class).Holds(f.Bytes) {
			all = append(all, float64(f.Bytes)*8/f.FCT.Seconds()/1e6)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: no flow of class %s completed", errNothing, s.Class)
	}
	return all, nil
}

func flowGoodput(s subject) (float64, error) {
	all, err := s.goodputs()
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all)), nil
}

func largestGoodput(s subject) (float64, error) {
	all, err := s.goodputs()
	if err != nil {
		return 0, err
	}
	return slices.Max(all), nil
}
