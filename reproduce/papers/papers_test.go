package papers

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Every paper that ships is sound, and its claims have what they need.
func TestAll(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.ID == "" || p.Title == "" || p.Venue == "" || len(p.Experiments) == 0 {
			t.Errorf("paper %+v lacks its id, title, venue or experiments", p)
		}
	}
}

const head = "paper: x\ntitle: X\nvenue: Y\nexperiments:\n  - {id: x-1, source: Fig. 1, title: T, environment: sim, lab: x/1, claims: ["

func TestParse(t *testing.T) {
	p, err := parse([]byte(head + "{id: x-1-a, statement: s, metric: fct-mean, scheme: a, others: [b], baseline: c, relation: lower, percent: 5}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c := p.Experiments[0].Claims[0]; strings.Join(c.Schemes(), " ") != "a b" || c.Relation != Lower || !c.Relation.Relative() {
		t.Errorf("claim %+v", c)
	}
}

// The baseline's figure is of what base says, and else of what the claim is.
func TestOfBase(t *testing.T) {
	p, err := parse([]byte(head + "{id: x-1-a, statement: s, metric: m, scheme: a, baseline: a, relation: higher, port: h1, queue: 1, windows: [{from: 3s, to: 4s}], base: {queue: 0}}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := p.Experiments[0].Claims[0]
	if base := c.OfBase(); c.Queue != 1 || base.Queue != 0 || base.Port != "h1" || base.Windows[0].From != 3*time.Second {
		t.Errorf("base of %+v is %+v", c, base)
	}
	c.Base = Base{Windows: []Window{{To: time.Second}}}
	if base := c.OfBase(); base.Queue != 1 || base.Windows[0].To != time.Second {
		t.Errorf("base with a window of its own: %+v", base)
	}
}

func TestAbout(t *testing.T) {
	for _, tt := range []struct {
		claim Claim
		want  string // of the loads 0.3, 0.5 and 0.9
	}{
		{Claim{}, "0.3 0.5 0.9"},
		{Claim{Load: 0.5}, "0.5"},
		{Claim{MinLoad: 0.5}, "0.5 0.9"},
		{Claim{MaxLoad: 0.5}, "0.3 0.5"},
		{Claim{MinLoad: 0.4, MaxLoad: 0.5}, "0.5"},
	} {
		var got []string
		for _, load := range []float64{0.3, 0.5, 0.9} {
			if tt.claim.About(load) {
				got = append(got, fmt.Sprint(load))
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%+v is about %v, want %s", tt.claim, got, tt.want)
		}
	}
}

func TestBadPapers(t *testing.T) {
	const claim = "{id: x-1-a, statement: s, metric: m, scheme: a, "
	for _, tt := range []struct{ name, file, want string }{
		{"unknown key", head + claim + "relation: equal, to: 1, colour: red}]}", "colour"},
		{"unknown relation", head + claim + "relation: nicer}]}", "nicer"},
		{"no baseline", head + claim + "relation: lower}]}", "baseline"},
		{"no figure", head + claim + "relation: equal}]}", "figure"},
		{"bound of zero", head + claim + "relation: at-most, to: 0}]}", "figure"},
		{"sign", head + claim + "relation: lower, baseline: b, percent: -3}]}", "below zero"},
		{"over", head + claim + "relation: equal, to: 1, over: mean}]}", "mean"},
		{"load and max_load", head + claim + "relation: equal, to: 1, load: 0.9, max_load: 0.5}]}", "not both"},
		{"no loads", head + claim + "relation: equal, to: 1, min_load: 0.9, max_load: 0.5}]}", "below min_load"},
		{"base of none", head + claim + "relation: equal, to: 1, base: {queue: 0}}]}", "want a baseline"},
		{"window of the base", head + claim + "relation: lower, baseline: b, base: {windows: [{from: 2s, to: 1s}]}}]}", "empty"},
		{"loads", head + claim + "relation: equal, to: 1, load: 0.9, min_load: 0.5}]}", "not both"},
		{"window", head + claim + "relation: equal, to: 1, windows: [{from: 2s, to: 1s}]}]}", "empty"},
		{"incomplete", head + "{id: x-1-a, relation: equal, to: 1}]}", "statement"},
		{"foreign id", head + "{id: y-1, statement: s, metric: m, scheme: a, relation: equal, to: 1}]}", `"y-1"`},
		{"environment", strings.Replace(head, "environment: sim", "environment: moon", 1) + "]}", "moon"},
		{"range upside down", head + claim + "relation: lower, baseline: b, percent: 3, percent_max: 2}]}", "above percent"},
		{"range of the best", head + claim + "relation: lower, baseline: b, percent: 3, percent_max: 9, over: best}]}", "every load"},
		{"more than no number", head + claim + "relation: lower, baseline: b, bound: true}]}", "want a percent"},
		{"cause of nothing", head + claim + "relation: equal, to: 1, cause: chance}]}", "with an explanation"},
		{"explanation without a cause", head + claim + "relation: equal, to: 1, explanation: e}]}", "contradiction parameter reading chance"},
		{"unknown cause", head + claim + "relation: equal, to: 1, explanation: e, cause: weather}]}", "weather"},
		{"two documents", head + "]}\n---\npaper: y\n", "one paper"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parse([]byte(tt.file)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// A claim may be about another lab than the experiment's, and may want nothing.
func TestLabsOfExperiment(t *testing.T) {
	p, err := parse([]byte(head + "{id: x-1-a, statement: s, metric: drops, scheme: a, relation: equal, to: 0}, " +
		"{id: x-1-b, lab: x/1-5x, statement: s, metric: drops, scheme: a, relation: equal, to: 2}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	e := p.Experiments[0]
	if got := strings.Join(e.Labs(), " "); got != "x/1 x/1-5x" {
		t.Errorf("labs %s", got)
	}
	for lab, claim := range map[string]string{"x/1": "x-1-a", "x/1-5x": "x-1-b"} {
		if on := e.On(lab); on.Lab != lab || len(on.Claims) != 1 || on.Claims[0].ID != claim {
			t.Errorf("on %s: %+v, want %s alone", lab, on, claim)
		}
	}
	if len(e.Claims) != 2 {
		t.Errorf("what is for one lab took claims from the experiment: %+v", e)
	}
}
