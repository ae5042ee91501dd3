package report

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

// TestProgramFigures: the figures of a program, three seeds under two schemes with ratios
// of 0.5, 0.6 and 0.7, have a dot a scheme and the interval of Student's t with two degrees
// of freedom, 0.6 plus or minus 4.303 x 0.1 / sqrt(3). How long the program ran is left to
// the table.
func TestProgramFigures(t *testing.T) {
	var points []results.Point
	for seed, ratio := range []float64{0.5, 0.6, 0.7} {
		for scheme, p99 := range map[string]float64{"droptail": 100, "tcn": 100 * ratio} {
			points = append(points, results.Point{
				Coord:    results.Coord{Scheme: scheme, Load: 0.5, Seed: uint64(seed + 1)},
				Programs: []results.Program{{Name: "client", Host: "h1", End: time.Second}},
				Figures:  []results.ProgramSample{{Program: "client", Metric: "get.p99", Unit: "us", Better: results.Lower, Value: p99}},
			})
		}
	}
	m := resultstest.StarManifest()
	m.Schemes = []string{"droptail", "tcn"}
	page, err := NewPage([]*store.Run{stored(t, m, points)}, "droptail")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range page.Figures() {
		if !strings.HasPrefix(f.Name, "program-") {
			continue
		}
		found++
		if f.Name != "program-client-get.p99-mean-load0.5" || len(f.Series) != 2 {
			t.Fatalf("%s has %+v", f.Name, f.Series)
		}
		p, half := f.Series[1].Points[0], 4.3027*0.1/math.Sqrt(3)
		if math.Abs(p.X-0.6) > 1e-9 || math.Abs(p.Low-(0.6-half)) > 1e-4 || math.Abs(p.High-(0.6+half)) > 1e-4 {
			t.Errorf("tcn stands at %+v", p)
		}
	}
	var html bytes.Buffer
	if err := page.WriteHTML(&html); err != nil || found != 1 || !strings.Contains(html.String(), "Programs relative to the baseline") {
		t.Errorf("%d figures of programs, %v", found, err)
	}
}
