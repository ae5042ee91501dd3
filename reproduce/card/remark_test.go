package card

import (
	"strings"
	"testing"

	"aqmlab/reproduce/papers"
)

// hardware are claims of an experiment about machines of the authors.
func hardware(verdicts ...Verdict) (card []Score) {
	for i, v := range verdicts {
		s := Score{Experiment: papers.Experiment{ID: "x-1", Environment: papers.Hardware}, Outcome: Outcome{Verdict: v}}
		s.Claim = papers.Claim{ID: "x-1-c" + string(rune('1'+i)), Relation: papers.Equal, To: ptr(1), Unit: "lines"}
		switch v {
		case Described:
			s.Reason = "their machine"
		case NotRun:
			s.Reason, s.Shortfall = "no time", NoFigure
		case NotReproduced:
			s.Claim.Explanation = "the sea was rough."
		}
		card = append(card, s)
	}
	return card
}

// What the paper only describes is neither run nor not run.
func TestDescribed(t *testing.T) {
	for environment, want := range map[string]Verdict{papers.Input: Described, papers.Hardware: Described, papers.Testbed: NotRun, papers.Simulator: NotRun} {
		e := papers.Experiment{ID: "x-1", Environment: environment}
		claim := papers.Claim{ID: "x-1-c1", Metric: "lines", Relation: papers.Equal, To: ptr(500), Unmeasured: "their program"}
		if got := ScoreClaim("x", e, claim, nil); got.Verdict != want || got.Reason != "their program" {
			t.Errorf("%s: %s, %s", environment, got.Verdict, got.Reason)
		}
	}
}

// A reason that several claims share stands once, with their names.
func TestRemarks(t *testing.T) {
	for _, tt := range []struct {
		verdicts []Verdict
		want     []string
	}{
		{[]Verdict{Described, Described, Described}, []string{"all 3 claims, described: their machine."}},
		{[]Verdict{Described}, []string{"c1, described: their machine."}},
		{[]Verdict{Described, Described, Described, Reproduced}, []string{"c1 to c3, described: their machine."}},
		{[]Verdict{Described, Reproduced, Described, NotRun, Described}, []string{"c1, c3, c5, described: their machine.", "c4, not run: no time."}},
		{[]Verdict{NotReproduced, NotReproduced, Reproduced}, []string{"c1, c2, not reproduced: the sea was rough."}},
		{[]Verdict{Reproduced}, nil},
	} {
		var got []string
		for _, r := range remarksOn(hardware(tt.verdicts...)) {
			got = append(got, r.String())
		}
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%v: %q, want %q", tt.verdicts, got, tt.want)
		}
	}
}

// Claims that are only described have no line of their own; the reason of a claim
// alone stands on its line.
func TestRemarksOnTheCard(t *testing.T) {
	for _, tt := range []struct {
		verdicts []Verdict
		want     string
	}{
		{[]Verdict{Described, Described}, "  all 2 claims, described: their machine.\n\n"},
		{[]Verdict{NotRun, Described}, "  c1     1 lines    -    not run  no: no time\n       []\n  c2, described: their machine.\n\n"},
		{[]Verdict{NotRun, NotRun}, "  c1     1 lines    -    not run  no\n       []\n  c2     1 lines    -    not run  no\n       []\n  all 2 claims, not run: no time.\n\n"},
	} {
		var text strings.Builder
		if err := WriteText(&text, hardware(tt.verdicts...)); err != nil {
			t.Fatal(err)
		}
		_, rows, found := strings.Cut(text.String(), "established\n")
		if !found {
			_, rows, _ = strings.Cut(text.String(), "\n")
		}
		if !strings.HasPrefix(rows, tt.want) {
			t.Errorf("%v: printed\n%s\nwant\n%s", tt.verdicts, rows, tt.want)
		}
	}
}
