package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"aqmlab/results"
)

// windowed lists the samples of the claim's queue within its window.
func (s subject) windowed() ([]results.QueueSample, error) {
	w, err := s.window()
	if err != nil {
		return nil, err
	}
	var within []results.QueueSample
	for _, q := range s.point.Queues {
		if s.sampled(q) && q.At > w.From && q.At <= w.To {
			within = append(within, q)
		}
	}
	if len(within) == 0 {
		return nil, fmt.Errorf("%w: no samples of queue %d to %s", errNothing, s.Queue, s.Port)
	}
	return within, nil
}

// queueMedian is what stands in a queue, whatever bursts come and go.
func queueMedian(s subject) (float64, error) {
	samples, err := s.windowed()
	if err != nil {
		return 0, err
	}
	slices.SortFunc(samples, func(a, b results.QueueSample) int { return cmp.Compare(a.Bytes, b.Bytes) })
	n := len(samples)
	return float64(samples[(n-1)/2].Bytes+samples[n/2].Bytes) / 2 / 1000, nil
}

func queueDrops(s subject) (float64, error) {
	samples, err := s.windowed()
	drops := int64(0)
	for _, q := range samples {
		drops += q.Drops
	}
	return float64(drops), err
}

// lossFanout is the number of responses to a query from which on the port drops
// packets of any queue, during that query and all larger ones: other traffic may
// make it drop some now and then. It is infinite when not even the largest query
// lost packets.
func lossFanout(s subject) (float64, error) {
	lossless, seen := 0, false
	lossy := map[int]bool{}
	for _, query := range results.QueriesOf(s.point.Flows) {
		drops, ok := s.dropsDuring(query)
		seen = seen || ok
		if drops > 0 {
			lossy[query.Flows] = true
		} else if ok {
			lossless = max(lossless, query.Flows)
		}
	}
	if !seen {
		return 0, fmt.Errorf("%w: no query completed while the port to %s was sampled", errNothing, s.Port)
	}
	least := math.Inf(1)
	for fanOut := range lossy {
		if fanOut > lossless {
			least = min(least, float64(fanOut))
		}
	}
	return least, nil
}

// dropsDuring counts what the port dropped from the start of a query that
// completed until the first sample after its end, which tells of the time
// before.
func (s subject) dropsDuring(query results.Query) (drops int64, ok bool) {
	end := time.Duration(-1)
	for _, q := range s.point.Queues {
		if q.Port == s.Port && q.At >= query.Sent+query.QCT && (end < 0 || q.At < end) {
			end = q.At
		}
	}
	for _, q := range s.point.Queues {
		if q.Port == s.Port && q.At > query.Sent && q.At <= end {
			drops, ok = drops+q.Drops, true
		}
	}
	return drops, ok && query.Complete
}
