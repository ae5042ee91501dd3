package reproduce

import (
	"fmt"
	"math"
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

func queueMean(s subject) (float64, error) {
	samples, err := s.windowed()
	sum := 0.0
	for _, q := range samples {
		sum += float64(q.Bytes)
	}
	return sum / float64(len(samples)) / 1000, err
}

func queueDrops(s subject) (float64, error) {
	samples, err := s.windowed()
	drops := int64(0)
	for _, q := range samples {
		drops += q.Drops
	}
	return float64(drops), err
}

// firstLoss is the number of responses to the smallest query during which the
// port dropped packets of any queue, and infinite when it never did.
func firstLoss(s subject) (float64, error) {
	least, seen := math.Inf(1), false
	for _, query := range results.QueriesOf(s.point.Flows) {
		drops, ok := s.dropsDuring(query)
		seen = seen || ok
		if drops > 0 {
			least = min(least, float64(query.Flows))
		}
	}
	if !seen {
		return 0, fmt.Errorf("%w: no query completed while the port to %s was sampled", errNothing, s.Port)
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
