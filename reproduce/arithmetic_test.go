package reproduce

import (
	"math"
	"strings"
	"testing"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/papers"
)

// Times follow from the number of bits: 2^32 ns, and 2^32 ticks of 1024 ns. The
// table's entry for 352 marks is 91, which five shifts make 2; the quotient is
// 1000/352.
func TestArithmetic(t *testing.T) {
	want := map[string][2]float64{"stamp-wrap": {0, 4.294967296}, "clock-wrap": {0, 4398.046511104}, "quotient": {1000.0 / 352, 2}}
	for _, a := range arithmetic() {
		if from, to := a.of(); math.Abs(from-want[a.name][0]) > 1e-12 || to != want[a.name][1] || a.doc == "" {
			t.Errorf("%s: %v and %v, want %v", a.name, from, to, want[a.name])
		}
		if _, ok := metric(a.name); ok {
			t.Errorf("%s needs runs and needs none", a.name)
		}
	}
}

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
