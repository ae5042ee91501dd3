package card

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
)

// An explanation stands on the card of what was judged and is not reproduced, and of what is
// reproduced and far from the published number, and nowhere else.
func TestExplanation(t *testing.T) {
	for outcome, want := range map[Outcome]bool{
		{Verdict: NotReproduced, Shortfall: OffClaim}: true, {Verdict: DirectionOnly, Shortfall: OffClaim}: true,
		{Verdict: Reproduced, Shortfall: OffNumber}: true, {Verdict: Reproduced, Shortfall: WithinChance}: false,
		{Verdict: Reproduced, Established: true}: false, {Verdict: NotRun, Shortfall: NoFigure}: false,
	} {
		s := Score{
			Experiment: papers.Experiment{ID: "x-1"},
			Claim:      papers.Claim{ID: "x-1-a", Relation: papers.Close, Explanation: "the paper ran it at sea"},
			Outcome:    outcome,
		}
		var text strings.Builder
		if err := WriteText(&text, []Score{s}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "why: the paper ran it at sea"); got != want {
			t.Errorf("%+v: the card\n%s", outcome, &text)
		}
		b, err := json.Marshal(ToJSON([]Score{s}, "quick"))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(b), `"explanation":"the paper ran it at sea"`); got != want {
			t.Errorf("%+v: %s", outcome, b)
		}
	}
}

// What is far from the number and what is not reproduced have remarks of their own, be the
// reason the same.
func TestRemarkOnTheNumber(t *testing.T) {
	card := hardware(NotReproduced, NotReproduced)
	card[1].Verdict, card[1].Shortfall = Reproduced, OffNumber
	var got []string
	for _, r := range remarksOn(card) {
		got = append(got, r.String())
	}
	if want := "c1, not reproduced: the sea was rough.|c2, off the number: the sea was rough."; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A direction from a constant, without a number, is printed as a direction.
func TestDirectionWithoutNumber(t *testing.T) {
	c := papers.Claim{Relation: papers.Lower, From: ptr(1), Unit: "ratio"}
	if got := (Score{Claim: c}).publishedText(); got != "lower" {
		t.Errorf("published %q, want lower", got)
	}
	if p := (Score{Claim: c}).published(); !math.IsNaN(p) {
		t.Errorf("published %v, want none", p)
	}
}

// What never happened under one scheme is more than any number under another.
func TestMoreThanNone(t *testing.T) {
	inf := record.Number(math.Inf(1))
	higher := Score{Claim: papers.Claim{Relation: papers.Higher, Baseline: "b"}}
	equal := Score{Claim: papers.Claim{Relation: papers.Equal, To: ptr(100), Unit: "responses"}}
	for _, tt := range []struct {
		score  Score
		figure record.Figure
		want   string
	}{
		{higher, record.Figure{Value: inf, From: 100, To: inf}, "from 100 to never"},
		{higher, record.Figure{Value: inf, From: 0, To: 83}, "from 0 to 83"},
		{equal, record.Figure{Value: inf, To: inf}, "never"},
		{equal, record.Figure{Value: 125, To: 125}, "125 responses"},
		{higher, record.Figure{Value: inf, From: 0, To: 83, CI95: &[2]record.Number{inf, inf}}, "from 0 to 83 (more than none)"},
		{higher, record.Figure{Value: inf, From: 100, To: inf, CI95: &[2]record.Number{inf, inf}}, "from 100 to never (never)"},
		{higher, record.Figure{Value: 900, From: 1, To: 10, CI95: &[2]record.Number{-100, inf}}, "+900 % (-100 or more)"},
	} {
		tt.score.Columns = map[orchestrator.Runtime]Figure{"sim": {Figure: tt.figure}}
		if got := tt.score.figureText("sim"); got != tt.want {
			t.Errorf("printed %q, want %q", got, tt.want)
		}
	}
}

// A figure that was computed is of no flows.
func TestComputedHasNoFlows(t *testing.T) {
	s := Score{Claim: papers.Claim{Relation: papers.Equal, To: ptr(4), Unit: "s"}}
	s.Columns = map[orchestrator.Runtime]Figure{Computed: {Figure: record.Figure{Value: 4.29, To: 4.29}}}
	if got := s.figureAndFlows(Computed); got != "4.29 s" {
		t.Errorf("printed %q", got)
	}
}

// JSON has no number for what never happened: null stands for it.
func TestNeverInJSON(t *testing.T) {
	s := Score{Claim: papers.Claim{Relation: papers.AtLeast, To: ptr(2000), Unit: "us"}, Columns: map[orchestrator.Runtime]Figure{orchestrator.Simulator(): {Figure: record.Figure{Value: record.Number(math.Inf(1))}}}}
	if got := ToJSON([]Score{s}, "quick").Claims[0]; got.Sim != nil {
		t.Errorf("%+v, want no figure", got)
	}
}
