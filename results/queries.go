package results

import "time"

// Query is the record of one query: flows that start together, and whose
// answers are of use only when all are there.
type Query struct {
	ID       int64         // as its flows have it, from 1
	Start    time.Duration // first of the times at which the trace wants its flows sent
	Sent     time.Duration // first of the times at which they were
	QCT      time.Duration // query completion time, from Sent to the last byte of its last flow; zero when it did not complete
	Bytes    int64         // of all its flows
	Flows    int
	Complete bool // all its flows did
}

// QueriesOf gathers the queries of flows, in the order in which the flows name
// them first.
func QueriesOf(flows []Flow) []Query {
	var queries []Query
	at := make(map[int64]int)
	for _, f := range flows {
		if f.Query == 0 {
			continue
		}
		i, ok := at[f.Query]
		if !ok {
			i = len(queries)
			at[f.Query] = i
			queries = append(queries, Query{ID: f.Query, Start: f.Start, Sent: f.Sent, Complete: true})
		}
		queries[i].add(f)
	}
	for i := range queries {
		if !queries[i].Complete {
			queries[i].QCT = 0
		}
	}
	return queries
}

// add counts a flow in. Until all are, QCT is what those before took.
func (q *Query) add(f Flow) {
	end := max(q.Sent+q.QCT, f.Sent+f.FCT)
	q.Start, q.Sent = min(q.Start, f.Start), min(q.Sent, f.Sent)
	q.QCT = end - q.Sent
	q.Bytes += f.Bytes
	q.Flows++
	q.Complete = q.Complete && f.Completed()
}

// SummarizeQueries sums up the completion times of the queries that completed.
func SummarizeQueries(queries []Query) FCT {
	return SummarizeTimes(CompletionTimes(queries))
}

// CompletionTimes are the QCTs in microseconds of the queries that completed.
func CompletionTimes(queries []Query) []float64 {
	var us []float64
	for _, q := range queries {
		if q.Complete {
			us = append(us, Microseconds(q.QCT))
		}
	}
	return us
}
