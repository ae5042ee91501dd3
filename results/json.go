package results

import "path/filepath"

// RunJSON is what `run --json` prints.
type RunJSON struct {
	Lab      string      `json:"lab"`
	Dir      string      `json:"dir"`
	Runtime  string      `json:"runtime"`
	Dilation float64     `json:"dilation"`
	Runs     []PointJSON `json:"runs"`
}

// PointJSON is one point of [RunJSON].
type PointJSON struct {
	Scheme    string        `json:"scheme"`
	Load      float64       `json:"load"`
	Seed      uint64        `json:"seed"`
	Flows     int           `json:"flows"`
	Completed int           `json:"completed"`
	FCT       map[Class]FCT `json:"fct_us"`
	Queries   int           `json:"queries,omitempty"`
	QCT       *FCT          `json:"qct_us,omitempty"` // of the queries that completed; nil without any query
	Counts
	Goodput  float64          `json:"goodput_gbps"`
	Services []ServiceGoodput `json:"services,omitempty"` // where there are several
	Probes   []ProbeSummary   `json:"probes,omitempty"`
	Fidelity FidelityJSON     `json:"fidelity"`
	// TimedOut counts the flows for which a retransmission timer expired; nil
	// where that was not counted.
	TimedOut map[Class]int `json:"timed_out_flows,omitempty"`
}

// FidelityJSON is a point's fidelity, in short.
type FidelityJSON struct {
	Label       string  `json:"label"`
	LatenessP99 float64 `json:"lateness_p99_us"`
	ShareOfRTT  float64 `json:"lateness_share_of_rtt"`
	EdgeDrops   int64   `json:"edge_drops"`
}

// JSONOf sums up one point.
func JSONOf(p Point) PointJSON {
	info := infoOf(p)
	j := PointJSON{
		Scheme: p.Scheme, Load: p.Load, Seed: p.Seed,
		Flows: info.Flows, Completed: info.Completed,
		FCT:     make(map[Class]FCT),
		Counts:  CountsOf(p),
		Goodput: Goodput(p.Flows),
		Probes:  SummarizeProbes(p.Probes),

		TimedOut: TimedOut(p.Flows),
		Fidelity: FidelityJSON{
			Label:       p.Fidelity.Label,
			LatenessP99: micros(p.Fidelity.LatenessP99),
			ShareOfRTT:  p.Fidelity.ShareOfRTT,
			EdgeDrops:   p.Fidelity.EdgeDrops,
		},
	}
	for _, c := range Classes() {
		j.FCT[c] = Summarize(p.Flows, c)
	}
	if services := GoodputByService(p.Flows); len(services) > 1 {
		j.Services = services
	}
	if queries := QueriesOf(p.Flows); len(queries) > 0 {
		qct := SummarizeQueries(queries)
		j.Queries, j.QCT = len(queries), &qct
	}
	return j
}

// JSON sums up the run, reading the flows of every point.
func (r *Run) JSON() (RunJSON, error) {
	points, err := r.readFlows()
	if err != nil {
		return RunJSON{}, err
	}
	return r.json(points), nil
}

func (r *Run) json(points []Point) RunJSON {
	j := RunJSON{Lab: r.Manifest.Lab, Dir: r.Dir, Runtime: r.Manifest.Runtime, Dilation: r.Manifest.Dilation, Runs: []PointJSON{}}
	for _, p := range points {
		j.Runs = append(j.Runs, JSONOf(p))
	}
	return j
}

// CompareJSON is what `compare --json` prints.
type CompareJSON struct {
	Baseline    string       `json:"baseline"`
	Rows        []Row        `json:"rows"`
	Differences []Difference `json:"differences"`
}

// JSON is the comparison without what only the table shows.
func (c Comparison) JSON() CompareJSON {
	j := CompareJSON{c.Baseline, c.Rows, c.Differences}
	if j.Rows == nil {
		j.Rows = []Row{}
	}
	if j.Differences == nil {
		j.Differences = []Difference{}
	}
	return j
}

// summary is summary.json: what the commands print, kept with the run.
type summary struct {
	RunJSON
	Comparison CompareJSON `json:"comparison"`
	Warnings   []string    `json:"warnings"`
}

// describe writes the summary and the report of a run into a folder.
func (r *Run) describe(dir string) error {
	points, err := r.readFlows()
	if err != nil {
		return err
	}
	c, err := Compare(points, r.Manifest.Baseline)
	if err != nil {
		// The measurements stand even where they cannot be compared.
		c = Comparison{Warnings: []string{"schemes not compared: " + err.Error()}}
	}
	s := summary{r.json(points), c.JSON(), append([]string{}, c.Warnings...)}
	if err := writeJSON(filepath.Join(dir, summaryFile), s); err != nil {
		return err
	}
	return writeReport(filepath.Join(dir, reportFile), []*Run{r}, c)
}
