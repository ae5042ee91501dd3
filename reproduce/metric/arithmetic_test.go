package metric

import (
	"math"
	"testing"

	"aqmlab/reproduce/papers"
)

// Times follow from the number of bits: 2^32 ns, and 2^32 ticks of 1024 ns. Whole ticks
// of the table are off by 8.18125 % on average: computed apart, with the table of the
// paper's section 4.3.
func TestArithmetic(t *testing.T) {
	want := map[string][2]float64{"stamp-wrap": {0, 4.294967296}, "clock-wrap": {0, 4398.046511104}, "register-memory": {0, 4.608}, "quotient": {100, 108.18125}}
	for _, a := range Kinds() {
		if a.Arithmetic == nil {
			continue
		}
		if from, to := a.Arithmetic(); math.Abs(from-want[a.Name][0]) > 1e-12 || math.Abs(to-want[a.Name][1]) > 1e-5 || a.Doc == "" {
			t.Errorf("%s: %v and %v, want %v", a.Name, from, to, want[a.Name])
		}
		if NeedsRuns(papers.Claim{Metric: a.Name}) || a.Compute != nil {
			t.Errorf("%s needs runs and needs none", a.Name)
		}
	}
}
