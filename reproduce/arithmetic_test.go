package reproduce

import (
	"strings"
	"testing"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/papers"
)

// Claims about arithmetic are judged without points, and ask for none.
func TestArithmeticIsJudged(t *testing.T) {
	p := planned(t, Standard, "ecnsharp-sec4-tofino", "ecnsharp-fig6")
	if len(p.jobs) != 2 { // two seeds of the one claim that is about traffic
		t.Errorf("%d points: %v", len(p.jobs), p.jobs)
	}
	card, err := p.Card()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Verdict{"ecnsharp-sec4-tofino-c8": Reproduced, "ecnsharp-sec4-tofino-c9": Reproduced, "ecnsharp-fig6-c1": NotReproduced}
	for _, s := range card {
		verdict, ok := want[s.Claim.ID]
		if f, there := s.Columns[Computed]; there != ok {
			t.Errorf("%s: %+v", s.Claim.ID, s.Columns)
		} else if ok && (s.Verdict != verdict || s.By != Computed || f.HasCI || s.Chance || s.Reason != "") {
			t.Errorf("%s is %s by %q: %+v", s.Claim.ID, s.Verdict, s.By, f)
		}
	}
	text := cardOf(t, p)
	for _, part := range []string{"4398 s", "-29.6 %", "sim  computed  verdict"} {
		if !strings.Contains(text, part) {
			t.Errorf("the card has no %q:\n%s", part, text)
		}
	}
	if err := p.keep("ecnsharp-fig6"); err != nil {
		t.Fatal(err)
	}
	if r, err := load(p.root(), "ecnsharp", "ecnsharp-fig6"); err != nil || len(r.Figures) != 0 {
		t.Errorf("recorded %+v, %v", r, err)
	}
}

// A figure that was computed is of no flows.
func TestComputedHasNoFlows(t *testing.T) {
	s := Score{Claim: papers.Claim{Relation: papers.Equal, To: ptr(4), Unit: "s"}}
	s.Columns = map[orchestrator.Runtime]Figure{Computed: {Value: 4.29, To: 4.29}}
	if got := s.textWithFlows(Computed); got != "4.29 s" {
		t.Errorf("printed %q", got)
	}
}
