package results

import (
	"encoding/json"
	"math"
	"testing"
)

// TestStudent: the quantiles of the table of the NIST/SEMATECH e-Handbook of
// Statistical Methods, 1.3.6.7.2, which has three decimals.
func TestStudent(t *testing.T) {
	for _, c := range []struct {
		df   int
		p    float64
		want float64
	}{
		{1, 0.975, 12.706}, {2, 0.975, 4.303}, {3, 0.975, 3.182}, {4, 0.975, 2.776}, {5, 0.975, 2.571},
		{9, 0.975, 2.262}, {10, 0.975, 2.228}, {30, 0.975, 2.042}, {60, 0.975, 2.000}, {100, 0.975, 1.984},
		{1, 0.95, 6.314}, {2, 0.95, 2.920}, {7, 0.95, 1.895}, {1, 0.995, 63.657}, {6, 0.995, 3.707},
		{3, 0.999, 10.215}, {20, 0.999, 3.552}, {100_000, 0.975, 1.960},
	} {
		if got := Student(c.df, c.p); math.Abs(got-c.want) > 0.0006 {
			t.Errorf("the %g quantile for %d degrees of freedom is %.4f, want %.3f", c.p, c.df, got, c.want)
		}
	}
}

// TestEstimate: 2, 4 and 9 have the mean 5 and the sample variance (9+1+16)/2 = 13,
// so that the half is 4.303 times the root of 13/3.
func TestEstimate(t *testing.T) {
	e := EstimateOf([]float64{2, 4, 9})
	low, high, ok := e.Interval()
	if want := 4.303 * math.Sqrt(13.0/3); e.Count != 3 || e.Mean != 5 || !ok || math.Abs(e.Half-want) > 0.001 || low != 5-e.Half || high != 5+e.Half {
		t.Errorf("%+v from %v to %v, %v, want 5 and %v on either side", e, low, high, ok, want)
	}
	if e := EstimateOf([]float64{3, 3}); e.Mean != 3 || e.Half != 0 {
		t.Errorf("of equal values: %+v", e)
	}
	for _, few := range [][]float64{nil, {7}} {
		e := EstimateOf(few)
		if _, _, ok := e.Interval(); ok || e.Count != len(few) || e.Half != 0 {
			t.Errorf("of %v: %+v has an interval", few, e)
		}
	}
}

func TestEstimateAsJSON(t *testing.T) {
	for want, e := range map[string]Estimate{
		`{"n":1,"mean":2.5,"ci95":null}`:  {Count: 1, Mean: 2.5},
		`{"n":2,"mean":2.5,"ci95":[2,3]}`: {Count: 2, Mean: 2.5, Half: 0.5},
	} {
		if got, err := json.Marshal(e); err != nil || string(got) != want {
			t.Errorf("%+v is %s, %v, want %s", e, got, err, want)
		}
	}
}
