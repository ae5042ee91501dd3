package compare

import (
	"aqmlab/results"
	"aqmlab/results/coexist"
)

// PointJSON is a point, summed up: what `run --json` prints of it.
type PointJSON struct {
	results.PointInfo
	FCT     map[results.Class]results.FCT `json:"fct_us"`
	Queries int                           `json:"queries,omitempty"`
	QCT     *results.FCT                  `json:"qct_us,omitempty"` // of the queries that completed; nil without any query
	results.Counts
	Goodput  float64                  `json:"goodput_gbps"`
	Services []results.ServiceGoodput `json:"services,omitempty"` // where there are several
	Probes   []results.ProbeSummary   `json:"probes,omitempty"`
	Programs []ProgramJSON            `json:"programs,omitempty"`
	// Coexistence is how parties share the network; nil where there is but one, and
	// nobody asked for its delays.
	Coexistence *coexist.Judgement `json:"coexistence,omitempty"`
	Fidelity    FidelityJSON       `json:"fidelity"`
	// TimedOut counts the flows for which a retransmission timer expired; nil
	// where that was not counted.
	TimedOut map[results.Class]int `json:"timed_out_flows,omitempty"`
}

// ProgramJSON is a program of a point.
type ProgramJSON struct {
	Name    string  `json:"name"`
	Host    string  `json:"host"`
	Start   float64 `json:"start_us"`
	End     float64 `json:"end_us"`
	Exit    int32   `json:"exit_status"` // -1 where a signal ended it, or it never began
	Signal  string  `json:"signal,omitempty"`
	Stopped bool    `json:"stopped,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// FidelityJSON is a point's fidelity, in short.
type FidelityJSON struct {
	Label       string         `json:"label"`
	LatenessP99 results.Micros `json:"lateness_p99_us"`
	ShareOfRTT  float64        `json:"lateness_share_of_rtt"`
	EdgeDrops   int64          `json:"edge_drops"`
}

// PointJSONOf sums up one point, but for how parties share the network.
func PointJSONOf(p results.Point) PointJSON {
	f := p.Fidelity
	j := PointJSON{
		PointInfo: results.InfoOf(p),
		FCT:       make(map[results.Class]results.FCT),
		Counts:    results.CountsOf(p),
		Goodput:   results.Goodput(p.Flows),
		Probes:    results.SummarizeProbes(p.Probes),
		TimedOut:  results.TimedOut(p.Flows),
		Fidelity:  FidelityJSON{f.Label, f.LatenessP99, f.ShareOfRTT, f.EdgeDrops},
	}
	for _, q := range p.Programs {
		j.Programs = append(j.Programs, ProgramJSON{
			q.Name, q.Host, results.Microseconds(q.Start), results.Microseconds(q.End), q.Exit, q.Signal, q.Stopped, q.Error,
		})
	}
	for _, c := range results.Classes() {
		j.FCT[c] = results.Summarize(p.Flows, c)
	}
	if services := results.GoodputByService(p.Flows); len(services) > 1 {
		j.Services = services
	}
	if queries := results.QueriesOf(p.Flows); len(queries) > 0 {
		qct := results.SummarizeQueries(queries)
		j.Queries, j.QCT = len(queries), &qct
	}
	return j
}
