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

// interval is one with an end on either side of a value.
func interval(low, high float64) *[2]record.Number {
	return &[2]record.Number{record.Number(low), record.Number(high)}
}

// scored is a claim judged by one figure.
func scored(c papers.Claim, column orchestrator.Runtime, value float64, ci *[2]record.Number) Score {
	s := Score{Claim: c, Columns: map[orchestrator.Runtime]Figure{column: {Figure: record.Figure{Value: record.Number(value), CI95: ci}}}}
	s.judge()
	return s
}

// A claim is established when its direction holds outside chance, and a published number
// is met within 10 points or 20 % on either side. What is alike keeps the published
// bound. Without an interval, or with seeds that are one run, nothing is.
func TestEstablished(t *testing.T) {
	lower := papers.Claim{Relation: papers.Lower, Percent: 60}
	higher := papers.Claim{Relation: papers.Higher, Percent: 300}
	slightly := papers.Claim{Relation: papers.Lower, Percent: 0.7}
	either := papers.Claim{Relation: papers.Lower}
	alike := papers.Claim{Relation: papers.Close}
	near := papers.Claim{Relation: papers.Close, Percent: 2.8}
	equal := papers.Claim{Relation: papers.Equal, To: ptr(375)}
	none := papers.Claim{Relation: papers.Equal, To: ptr(0)}
	least := papers.Claim{Relation: papers.AtLeast, To: ptr(1)}
	most := papers.Claim{Relation: papers.AtMost, To: ptr(600)}
	for _, tt := range []struct {
		name  string
		claim papers.Claim
		value float64
		ci    *[2]record.Number
		want  Shortfall
	}{
		{"as published", lower, -60, interval(-65, -55), ""},
		{"20 % more", lower, -72, interval(-75, -70), ""},
		{"more than 20 % more", lower, -72.1, interval(-75, -70), OffNumber},
		{"10 points less", lower, -50, interval(-55, -45), ""},
		{"20 % less is 12 points, which are not reproduced", lower, -48, interval(-55, -45), OffClaim},
		{"10 points of a small number", slightly, -10.7, interval(-12, -9), ""},
		{"more than 10 points of a small number", slightly, -10.8, interval(-12, -9), OffNumber},
		{"20 % of a large number", higher, 360, interval(350, 370), ""},
		{"far more", higher, 1779, interval(1700, 1800), OffNumber},
		{"more than any number", higher, math.Inf(1), nil, OffNumber},
		{"maybe the other way", lower, -60, interval(-130, 10), WithinChance},
		{"an interval that ends at zero", lower, -60, interval(-120, 0), WithinChance},
		{"the other way", lower, 60, interval(55, 65), OffClaim},
		{"a direction without a number", either, -90, interval(-95, -85), ""},
		{"one seed", lower, -60, nil, NoInterval},
		{"far off, and one seed", lower, -95, nil, OffNumber},
		{"seeds that are one run", lower, -60, interval(-60, -60), OneRun},
		{"alike", alike, 5, interval(1, 9), ""},
		{"alike by chance", alike, 5, interval(-1, 11), WithinChance},
		{"within the published bound", near, -2.8, interval(-5, -1), ""},
		{"beyond it, though within 10 points more", near, 2.9, interval(2.5, 3.3), OffNumber},
		{"a value", equal, 370, interval(300, 440), ""},
		{"a value by one seed", equal, 375, nil, NoInterval},
		{"none in seeds that are one run", none, 0, interval(0, 0), OneRun},
		{"at least", least, 1.9, interval(1.2, 2.6), ""},
		{"at least, by chance", least, 1.9, interval(-0.2, 4), WithinChance},
		{"at most", most, 100, interval(90, 110), ""},
		{"at most, by chance", most, 590, interval(570, 610), WithinChance},
	} {
		s := scored(tt.claim, "sim", tt.value, tt.ci)
		if s.Shortfall != tt.want || s.Established != (tt.want == "") {
			t.Errorf("%s: established %v, %q, want %q", tt.name, s.Established, s.Shortfall, tt.want)
		}
	}
}

// What is more than a number asks for that number, and for no more.
func TestEstablishedBound(t *testing.T) {
	claim := papers.Claim{Relation: papers.Higher, Percent: 20, Bound: true}
	for value, want := range map[float64]Shortfall{20: none, 19.9: OffNumber, 9: OffClaim, 500: none} {
		if s := scored(claim, "sim", value, interval(value-5, value+5)); s.Shortfall != want {
			t.Errorf("%v %%: %q, want %q", value, s.Shortfall, want)
		}
	}
}

// A range has two ends: what supports a claim least is near the lower one, and what
// supports it most near the upper.
func TestEstablishedRange(t *testing.T) {
	claim := papers.Claim{ID: "x-1-c1", Metric: "fct-mean", Relation: papers.Lower, Percent: 7, PercentMax: 40, Scheme: "tcn", Class: "all"}
	for _, tt := range []struct {
		values []float64
		want   Shortfall
	}{
		{[]float64{-7, -20, -40}, none},
		{[]float64{-16.9, -48}, none},
		{[]float64{-7, -29}, OffNumber},    // the most is too little
		{[]float64{-7, -51}, OffNumber},    // or too much
		{[]float64{-17.1, -40}, OffNumber}, // the least is too much
		{[]float64{1, -40}, OffClaim},
	} {
		var figures []Figure
		for i, v := range tt.values {
			figures = append(figures, Figure{Figure: record.Figure{Claim: claim.ID, Runtime: "sim", Scheme: "tcn", Load: float64(i+1) / 10, Value: record.Number(v), CI95: interval(v-0.5, v+0.5), Seeds: 2, Runs: 2}})
		}
		s := ScoreClaim("x", papers.Experiment{ID: "x-1", Environment: papers.Simulator}, claim, figures)
		if s.Shortfall != tt.want {
			t.Errorf("%v: %q, want %q", tt.values, s.Shortfall, tt.want)
		}
	}
}

// Runs that differ, and give the same, tell that chance does not move the figure.
func TestDifferentRunsMayAgree(t *testing.T) {
	claim := papers.Claim{ID: "x-1-c1", Metric: "drops", Relation: papers.Equal, To: ptr(0), Scheme: "tcn"}
	for runs, want := range map[int]Shortfall{0: OneRun, 1: OneRun, 2: "", 5: ""} {
		f := record.Figure{Claim: claim.ID, Runtime: "sim", Scheme: "tcn", CI95: interval(0, 0), Seeds: 5, Runs: runs}
		s := ScoreClaim("x", papers.Experiment{ID: "x-1", Environment: papers.Simulator}, claim, []Figure{{Figure: f}})
		if s.Shortfall != want {
			t.Errorf("%d runs: %q, want %q", runs, s.Shortfall, want)
		}
	}
}

// Arithmetic has no chance in it, and needs no interval.
func TestComputedIsEstablished(t *testing.T) {
	if s := scored(papers.Claim{Relation: papers.Equal, To: ptr(4)}, Computed, 4.29, nil); !s.Established {
		t.Errorf("shortfall %q", s.Shortfall)
	}
}

// What was not run is not established; what is only described falls short of nothing.
func TestNotRunIsNotEstablished(t *testing.T) {
	claim := papers.Claim{ID: "x-1-c1", Metric: "lines", Relation: papers.Equal, To: ptr(500), Unmeasured: "their program"}
	for environment, want := range map[string]Shortfall{papers.Testbed: NoFigure, papers.Hardware: ""} {
		s := ScoreClaim("x", papers.Experiment{ID: "x-1", Environment: environment}, claim, nil)
		if s.Established || s.Shortfall != want {
			t.Errorf("%s: established %v, %q, want %q", environment, s.Established, s.Shortfall, want)
		}
	}
}

// The card has the second verdict beside the first, in text and in JSON.
func TestEstablishedOnTheCard(t *testing.T) {
	one := scored(papers.Claim{ID: "x-1-c1", Relation: papers.Lower}, "sim", -5, interval(-6, -4))
	other := scored(papers.Claim{ID: "x-1-c2", Relation: papers.Lower}, "sim", -5, interval(-11, 1))
	cards := []Score{one, other}
	for i := range cards {
		cards[i].Paper, cards[i].Experiment = "x", papers.Experiment{ID: "x-1"}
	}
	var text strings.Builder
	if err := WriteText(&text, cards); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"verdict                    established\n", "reproduced                 yes\n", "reproduced, may be chance  no: may be chance\n", "1 of 2 claims established"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q on\n%s", want, &text)
		}
	}
	b, err := json.Marshal(ToJSON(cards, "full"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"established":true`, `"established":false,"shortfall":"may be chance"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}
