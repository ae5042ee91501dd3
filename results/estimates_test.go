package results

import (
	"reflect"
	"testing"
	"time"
)

func TestEstimatesAreStored(t *testing.T) {
	p := lossy()
	p.Estimates = []EstimateSample{
		{At: time.Millisecond, Switch: "s1", Port: "h1", Queue: 1, Rate: 5e9, Smoothed: 9e9},
		{At: 2 * time.Millisecond, Switch: "s1", Port: "h1", Rate: 10e9, Smoothed: 9.5e9},
	}
	m := manifest()
	m.Schemes, m.Baseline = []string{"red"}, "red"
	run := stored(t, m, []Point{p})
	wantFiles(t, run.Points()[0].dir, "estimates.parquet", "flows.parquet", "point.json", "series.parquet")
	got, err := run.Points()[0].Read()
	if err != nil || !reflect.DeepEqual(got.Estimates, p.Estimates) {
		t.Errorf("read %+v, %v, want %+v", got.Estimates, err, p.Estimates)
	}
	if few, err := run.Points()[0].ReadFlows(); err != nil || few.Estimates != nil {
		t.Errorf("with the flows alone: %+v, %v", few.Estimates, err)
	}
	if err := Remove(run.Dir); err != nil {
		t.Errorf("a run with estimates is not removed: %v", err)
	}
}
