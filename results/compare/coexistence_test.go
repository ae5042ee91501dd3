package compare

import (
	"math"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/coexist"
)

// judgedPoints are points of schemes and seeds, with a judgement of one value each.
func judgedPoints(measure, of string, values map[string][]float64) (points []results.Point, judged []*coexist.Judgement) {
	for _, scheme := range []string{"droptail", "tcn"} {
		for i, v := range values[scheme] {
			p := results.Point{Coord: results.Coord{Scheme: scheme, Load: 0.5, Seed: uint64(i + 1)}}
			p.Flows = []results.Flow{{Bytes: 1, Received: 1, FCT: time.Millisecond}}
			points = append(points, p)
			judged = append(judged, &coexist.Judgement{Values: []coexist.Value{{Measure: measure, Of: of, Value: v}}})
		}
	}
	return points, judged
}

// TestCoexistenceRows: the interval is that of the seeds' differences, by Student's t: of
// -0.1, -0.2 and -0.3 the mean is -0.2 and the half width 4.3027 * 0.1 / sqrt(3).
func TestCoexistenceRows(t *testing.T) {
	for _, tt := range []struct {
		measure string
		other   []float64
		mean    float64
		verdict Verdict
	}{
		{coexist.Jain, []float64{0.8, 0.7, 0.6}, 0.7, NoDifference}, // 0.2484 each side
		{coexist.Jain, []float64{0.8, 0.79, 0.78}, 0.79, Worse},
		{coexist.DelayP99, []float64{0.8, 0.79, 0.78}, 0.79, Better},
		{coexist.Share, []float64{0.8, 0.79, 0.78}, 0.79, ""}, // more of it is neither
	} {
		points, judged := judgedPoints(tt.measure, "x", map[string][]float64{"droptail": {0.9, 0.9, 0.9}, "tcn": tt.other})
		c, err := Points(points, "")
		if err != nil {
			t.Fatal(err)
		}
		c.Share(points, judged)
		r, ok := c.CoexistenceRow("tcn", 0.5, tt.measure, "x")
		if !ok || r.Count != 3 || math.Abs(r.Value-tt.mean) > 1e-9 || r.Verdict != tt.verdict || math.Abs(*r.Difference-(tt.mean-0.9)) > 1e-9 {
			t.Errorf("%s: %+v", tt.measure, r)
		}
		if tt.mean == 0.7 && math.Abs(r.DifferenceCI95[1]-(-0.2+4.302653*0.1/math.Sqrt(3))) > 1e-6 {
			t.Errorf("interval %v", *r.DifferenceCI95)
		}
		base, ok := c.CoexistenceRow("droptail", 0.5, tt.measure, "x")
		if !ok || base.Difference != nil || base.Verdict != "" || base.Value != 0.9 || base.CI95 != nil { // all its seeds measure the same
			t.Errorf("the baseline has %+v", base)
		}
	}
}

// TestCoexistenceOfFewSeeds: one seed has a difference and no verdict, and a seed that one
// of the two lacks is left out.
func TestCoexistenceOfFewSeeds(t *testing.T) {
	points, judged := judgedPoints(coexist.Jain, "", map[string][]float64{"droptail": {0.5}, "tcn": {0.75, 0.1}})
	c, err := Points(points, "")
	if err != nil {
		t.Fatal(err)
	}
	c.Share(points, judged)
	r, ok := c.CoexistenceRow("tcn", 0.5, coexist.Jain, "")
	if !ok || r.Count != 1 || r.Value != 0.75 || *r.Difference != 0.25 || r.CI95 != nil || r.DifferenceCI95 != nil || r.Verdict != "" {
		t.Errorf("%+v", r)
	}
	judged[0].Values = nil // the baseline has no such thing
	c, _ = Points(points, "")
	c.Share(points, judged)
	if r, ok := c.CoexistenceRow("tcn", 0.5, coexist.Jain, ""); !ok || r.Difference != nil || r.Value != 0.75 {
		t.Errorf("without the baseline's: %+v, %v", r, ok)
	}
	points, judged = judgedPoints(coexist.Jain, "", map[string][]float64{"droptail": {0.5, 0.5}, "tcn": {0.75, 0.75}})
	c, _ = Points(points, "")
	c.Share(points, judged)
	if r, ok := c.CoexistenceRow("tcn", 0.5, coexist.Jain, ""); !ok || r.Count != 1 || r.Verdict != "" {
		t.Errorf("of two seeds that change nothing: %+v, %v", r, ok)
	}
	judged[2], judged[3] = nil, nil
	c, _ = Points(points, "")
	c.Share(points, judged)
	if j, ok := c.JudgedAt("tcn", 0.5); ok {
		t.Errorf("a point that was not judged: %+v", j)
	}
}
