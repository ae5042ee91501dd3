package compare

import (
	"math"
	"testing"
	"time"

	"aqmlab/results"
)

// withProgram is a point with one program, which measured values of one metric.
func withProgram(scheme string, seed uint64, took time.Duration, better string, values ...float64) results.Point {
	p := results.Point{
		Coord:    results.Coord{Scheme: scheme, Load: 0.5, Seed: seed},
		Programs: []results.Program{{Name: "client", Host: "h1", End: took}},
	}
	for _, v := range values {
		p.Figures = append(p.Figures, results.ProgramSample{Program: "client", Metric: "rate", Unit: "1/s", Better: better, Value: v})
	}
	return p
}

func programRow(t *testing.T, c Comparison, scheme, figure string, m Metric) ProgramRow {
	t.Helper()
	for _, r := range c.Programs {
		if r.Scheme == scheme && r.Figure == figure && r.Statistic == m {
			return r
		}
	}
	t.Fatalf("no row of %s %s %s in %+v", scheme, figure, m, c.Programs)
	return ProgramRow{}
}

// TestProgramsBySeed: one value a seed is compared by the seeds' differences. Of +10, +20
// and +30 % the 95 % interval by Student's t with two degrees of freedom, whose quantile
// is 4.303, is 20 plus or minus 4.303 x 10 / sqrt(3).
func TestProgramsBySeed(t *testing.T) {
	var points []results.Point
	for seed, more := range []float64{1.1, 1.2, 1.3} {
		points = append(points,
			withProgram("a", uint64(seed), time.Second, results.Higher, 100),
			withProgram("b", uint64(seed), time.Second, results.Higher, 100*more))
	}
	c, err := Points(points, "a")
	if err != nil {
		t.Fatal(err)
	}
	r := programRow(t, c, "b", "rate", Mean)
	half := 4.3027 * 10 / math.Sqrt(3)
	if r.Count != 3 || math.Abs(r.Value-120) > 1e-9 || math.Abs(*r.Difference-20) > 1e-9 || math.Abs(r.CI95[0]-(20-half)) > 0.01 || math.Abs(r.CI95[1]-(20+half)) > 0.01 {
		t.Errorf("%+v, interval %v", r, *r.CI95)
	}
	if r.Verdict != NoDifference {
		t.Errorf("the interval holds zero, and the verdict is %q", r.Verdict)
	}
	if d := programRow(t, c, "b", results.Duration, Mean); d.Value != 1e6 || *d.Normalized != 1 {
		t.Errorf("duration: %+v", d)
	}
	if base := programRow(t, c, "a", "rate", Mean); base.CI95 != nil || base.Value != 100 {
		t.Errorf("baseline: %+v", base)
	}
}

// TestProgramsBetter: more is better of some figures, and less of others.
func TestProgramsBetter(t *testing.T) {
	for better, want := range map[string]Verdict{results.Higher: Better, results.Lower: Worse} {
		var points []results.Point
		for seed, more := range []float64{1.49, 1.50, 1.51} {
			points = append(points,
				withProgram("a", uint64(seed), time.Second, better, 100),
				withProgram("b", uint64(seed), time.Second, better, 100*more))
		}
		c, err := Points(points, "a")
		if err != nil {
			t.Fatal(err)
		}
		if r := programRow(t, c, "b", "rate", Mean); r.Verdict != want {
			t.Errorf("half as much again, %s is better: %q", better, r.Verdict)
		}
	}
}

// TestProgramsByMeasurement: many measurements are paired in their order, and have a p99.
func TestProgramsByMeasurement(t *testing.T) {
	var slow, fast []float64
	for i := range 1000 {
		v := 100 + 50*math.Sin(float64(i))
		slow, fast = append(slow, v), append(fast, v/2)
	}
	c, err := Points([]results.Point{
		withProgram("a", 1, time.Second, results.Lower, slow...),
		withProgram("b", 1, time.Second, results.Lower, fast...),
	}, "a")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []Metric{Mean, P99} {
		r := programRow(t, c, "b", "rate", m)
		if r.Verdict != Better || math.Abs(*r.Normalized-0.5) > 1e-6 || r.Count != 1000 || r.CI95[1] > -49.9 {
			t.Errorf("%s: %+v", m, r)
		}
	}
}

// TestProgramsThatFailed: they are in no figure, and a warning names them; nothing is
// relative to zero.
func TestProgramsThatFailed(t *testing.T) {
	broken := withProgram("b", 1, time.Second, results.Lower, 1)
	broken.Programs[0].Error = "exit status 1"
	c, err := Points([]results.Point{withProgram("a", 1, time.Second, results.Lower, 0), broken, withProgram("c", 1, 0, results.Lower, 3)}, "a")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Programs {
		if r.Scheme == "b" {
			t.Errorf("%+v", r)
		}
	}
	if r := programRow(t, c, "c", "rate", Mean); r.Normalized != nil || r.CI95 != nil || r.Value != 3 {
		t.Errorf("%+v", r)
	}
	found := false
	for _, w := range c.Warnings {
		found = found || w == "program client of b at load 0.5, seed 1: exit status 1; it is in no figure"
	}
	if !found {
		t.Errorf("warnings %q", c.Warnings)
	}
}
