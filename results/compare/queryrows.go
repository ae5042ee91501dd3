package compare

import "aqmlab/results"

// QueryStatistics lists what is compared of queries within a load.
func QueryStatistics() []Statistic {
	return []Statistic{{results.Queries, Mean}, {results.Queries, P99}}
}

// queryRows compares the queries of the two schemes, one by one, as rowsOf
// compares flows: neighbouring queries may depend on each other just as well.
func queryRows(common []replayed) []Row {
	var queries []replayed
	for _, r := range common {
		base, other := asQueries(r.base), asQueries(r.other)
		// Records that know of no queries have nothing to be paired.
		if n := len(base.Flows); n > 0 && n == len(other.Flows) {
			queries = append(queries, replayed{base, other})
		}
	}
	if queries == nil {
		return nil
	}
	var rows []Row
	for _, r := range rowsOf(queries) {
		if r.Class == results.All {
			r.Class = results.Queries
			rows = append(rows, r)
		}
	}
	return rows
}

// asQueries is the point with a flow for each of its queries.
func asQueries(p results.Point) results.Point {
	queries := results.QueriesOf(p.Flows)
	p.Flows = make([]results.Flow, len(queries))
	for i, q := range queries {
		p.Flows[i] = results.Flow{ID: q.ID, Start: q.Start, Sent: q.Sent, FCT: q.QCT, Bytes: q.Bytes}
		if q.Complete {
			p.Flows[i].Received = q.Bytes
		} else {
			p.Flows[i].Error = "a flow of the query did not complete"
		}
	}
	return p
}
