package reproduce

import (
	"strings"
	"testing"

	"aqmlab/reproduce/card"
	"aqmlab/reproduce/record"
)

// Claims about arithmetic are judged without points, and ask for none.
func TestArithmeticIsJudged(t *testing.T) {
	p := planned(t, Standard, "ecnsharp-sec4-tofino", "ecnsharp-fig6")
	if len(p.points) != 2 { // two seeds of the one claim that is about traffic
		t.Errorf("%d points: %v", len(p.points), p.points)
	}
	scores, err := p.Card()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]card.Verdict{"ecnsharp-sec4-tofino-c6": card.NotReproduced, "ecnsharp-sec4-tofino-c8": card.Reproduced, "ecnsharp-sec4-tofino-c9": card.Reproduced, "ecnsharp-fig6-c1": card.Reproduced}
	for _, s := range scores {
		verdict, ok := want[s.Claim.ID]
		if f, there := s.Columns[card.Computed]; there != ok {
			t.Errorf("%s: %+v", s.Claim.ID, s.Columns)
		} else if ok && (s.Verdict != verdict || s.By != card.Computed || f.CI95 != nil || s.Chance || s.Reason != "") {
			t.Errorf("%s is %s by %q: %+v", s.Claim.ID, s.Verdict, s.By, f)
		}
	}
	text := cardOf(t, p)
	for _, part := range []string{"4398 s", "+8.18 %", "sim  computed  verdict"} {
		if !strings.Contains(text, part) {
			t.Errorf("the card has no %q:\n%s", part, text)
		}
	}
	if err := p.updateRecord("ecnsharp-fig6"); err != nil {
		t.Fatal(err)
	}
	if r, err := record.Load(p.records(), "ecnsharp", "ecnsharp-fig6"); err != nil || len(r.Figures) != 0 {
		t.Errorf("recorded %+v, %v", r, err)
	}
}
