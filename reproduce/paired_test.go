package reproduce

import (
	"math"
	"testing"
	"time"

	"aqmlab/reproduce/card"
	"aqmlab/reproduce/metric"
	"aqmlab/results"
)

// acrossSeed measures the points of one seed of Fig. 8 and of its baseline in Fig. 6, which
// takes five times as long, with flows of so many bytes in Fig. 8.
func acrossSeed(t *testing.T, bytes int64) card.Figure {
	t.Helper()
	p := planned(t, Standard, "tcn-fig8")
	for _, j := range p.points {
		if j.Seed != 1 {
			continue
		}
		took, of := 50*time.Millisecond, int64(10_000)
		if j.experiment.ID == "tcn-fig8" {
			took, of = 10*time.Millisecond, bytes
		}
		measuredFlows(t, p, j, "sim", func(f *results.Flow) { f.FCT, f.Bytes, f.Received = took, of, of })
	}
	scores, err := p.Card()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scores {
		if s.Claim.ID == "tcn-fig8-c3" {
			if s.Verdict != card.Reproduced {
				t.Errorf("%s: %+v", s.Verdict, s.Columns["sim"])
			}
			return s.Columns["sim"]
		}
	}
	t.Fatal("no such claim")
	return card.Figure{}
}

// Claims about another experiment are judged across the two: flow by flow where both had
// the same flows, so that one seed has an interval, and else seed by seed.
func TestAcrossExperiments(t *testing.T) {
	if f := acrossSeed(t, 10_000); math.Abs(float64(f.Value)+80) > 1e-6 || f.CI95 == nil || f.Seeds != 1 || f.From != 50_000 || f.To != 10_000 {
		t.Errorf("the same flows: %+v", f)
	}
	if f := acrossSeed(t, 20_000); math.Abs(float64(f.Value)+80) > 1e-6 || f.CI95 != nil || f.Seeds != 1 {
		t.Errorf("other flows: %+v", f)
	}
}

// Flows that are not small are compared flow by flow, and small ones do not count.
func TestPairsOfLargerFlows(t *testing.T) {
	p := planned(t, Standard, "mqecn-fig2")
	for _, j := range p.points {
		measuredFlows(t, p, j, "sim", func(f *results.Flow) {
			f.FCT = 10 * time.Millisecond
			if j.Scheme == "per-queue-standard" && !results.Small.Holds(f.Bytes) {
				f.FCT /= 2
			}
		})
	}
	a := p.openArchive()
	for _, c := range p.experiment("mqecn-fig2").Claims {
		if m, _ := metric.Find(c.Metric); m.Name == "fct-mean-above-100kb" {
			f, err := a.measure(p.experiment("mqecn-fig2"), c, results.Coord{Scheme: c.Scheme, Load: 0.9})
			if err != nil || f.Value != -50 || f.CI95 == nil || f.CI95[0] != -50 || f.CI95[1] != -50 || f.From != 10_000 {
				t.Errorf("%+v, %v", f, err)
			}
		}
	}
}
