package report

import (
	"bytes"
	"encoding/json"
	"fmt"

	"aqmlab/results"
	"aqmlab/results/coexist"
	"aqmlab/results/compare"
	"aqmlab/results/store"
)

// RunJSON is what `run --json` prints.
type RunJSON struct {
	Lab      string            `json:"lab"`
	Dir      string            `json:"dir"`
	Runtime  string            `json:"runtime"`
	Dilation float64           `json:"dilation"`
	Derived  []results.Derived `json:"derived,omitempty"` // what the lab leaves to its schemes
	Runs     []PointJSON       `json:"runs"`
}

// PointJSON is one point of [RunJSON].
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

// PointJSONOf sums up one point.
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

// RunJSONOf sums up the run, reading the flows of every point.
func RunJSONOf(r *store.Run) (RunJSON, error) {
	points, err := r.ReadFlows()
	if err != nil {
		return RunJSON{}, err
	}
	judged, _ := compare.Judge([]*store.Run{r}, points, coexist.Usual())
	return runJSON(r, points, judged), nil
}

func runJSON(r *store.Run, points []results.Point, judged []*coexist.Judgement) RunJSON {
	j := RunJSON{Lab: r.Manifest.Lab, Dir: r.Dir, Runtime: r.Manifest.Runtime, Dilation: r.Manifest.Dilation, Derived: r.Manifest.Derived, Runs: []PointJSON{}}
	for i, p := range points {
		j.Runs = append(j.Runs, PointJSONOf(p))
		j.Runs[i].Coexistence = judged[i]
	}
	return j
}

// summary is summary.json: what the commands print, kept with the run.
type summary struct {
	RunJSON
	Comparison compare.Comparison `json:"comparison"`
	Warnings   []string           `json:"warnings"`
}

// Describe makes the summary and the report of a run, which are stored with it.
func Describe(r *store.Run) (map[string][]byte, error) {
	points, err := r.ReadFlows()
	if err != nil {
		return nil, err
	}
	judged, blind := compare.Judge([]*store.Run{r}, points, coexist.Usual())
	c, err := compare.Points(points, r.Manifest.Baseline)
	c.Share(points, judged)
	c.Warnings = append(c.Warnings, blind...)
	if err != nil {
		// The measurements stand even where they cannot be compared.
		c = compare.Comparison{Rows: []compare.Row{}, Differences: []compare.Difference{}, Warnings: []string{"schemes not compared: " + err.Error()}}
	}
	text, err := json.MarshalIndent(summary{runJSON(r, points, judged), c, append([]string{}, c.Warnings...)}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the summary: %w", err)
	}
	p, err := newPage([]*store.Run{r}, c)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := p.WriteHTML(&page); err != nil {
		return nil, err
	}
	return map[string][]byte{store.SummaryFile: append(text, '\n'), store.ReportFile: page.Bytes()}, nil
}
