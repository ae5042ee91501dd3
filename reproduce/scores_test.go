package reproduce

import (
	"testing"

	"aqmlab/reproduce/card"
)

// Of what the papers only describe nothing is run.
func TestOnlyDescribed(t *testing.T) {
	scores, err := planned(t, Standard, "ecnsharp-fig1", "ecnsharp-sec4-tofino", "abq-table1").Card()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, s := range scores {
		if s.Verdict == card.Described {
			counts[s.Experiment.ID]++
		}
	}
	if counts["ecnsharp-fig1"] != 24 || counts["ecnsharp-sec4-tofino"] != 6 || len(counts) != 2 {
		t.Errorf("described: %v", counts)
	}
}
