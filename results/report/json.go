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
	Lab      string              `json:"lab"`
	Dir      string              `json:"dir"`
	Runtime  string              `json:"runtime"`
	Dilation float64             `json:"dilation"`
	Derived  []results.Derived   `json:"derived,omitempty"` // what the lab leaves to its schemes
	Runs     []compare.PointJSON `json:"runs"`
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
	j := RunJSON{Lab: r.Manifest.Lab, Dir: r.Dir, Runtime: r.Manifest.Runtime, Dilation: r.Manifest.Dilation, Derived: r.Manifest.Derived, Runs: []compare.PointJSON{}}
	for i, p := range points {
		j.Runs = append(j.Runs, compare.PointJSONOf(p))
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
