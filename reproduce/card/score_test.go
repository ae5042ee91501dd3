package card

import (
	"testing"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
)

// A verdict is unsettled when the interval holds what would be reproduced.
func TestUnsettled(t *testing.T) {
	for _, tt := range []struct {
		value    record.Number
		interval [2]record.Number
		verdict  Verdict
		want     bool
	}{
		{-30, [2]record.Number{-55, -5}, DirectionOnly, true},
		{-30, [2]record.Number{-35, -25}, DirectionOnly, false},
		{5, [2]record.Number{-60, 70}, NotReproduced, true},
		{-60, [2]record.Number{-90, -30}, Reproduced, false},
	} {
		s := Score{
			Claim:   papers.Claim{Relation: papers.Lower, Percent: 60},
			Columns: map[orchestrator.Runtime]Figure{"sim": {Figure: record.Figure{Value: tt.value, CI95: &tt.interval}}},
		}
		s.judge()
		if s.Verdict != tt.verdict || s.Unsettled != tt.want {
			t.Errorf("%v within %v of 60 %% lower: %s", tt.value, tt.interval, s.verdictText())
		}
	}
}
