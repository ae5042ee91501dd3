package tune

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// search is one whose only parameter x goes from 1 to 100. The objective is value(x) with
// noise of that deviation, and the baseline's is 1.
func search(budget int, seed uint64, deviation float64, value func(x float64) float64) *Search {
	s := &Search{
		Space:     []Param{{Key: "x", Low: 1, High: 100}},
		Objective: Objective{"all.avg"}, Budget: budget, Loads: []float64{0.5}, FirstSeed: 1, Note: func(string) {},
	}
	random := rand.New(rand.NewPCG(seed, 0))
	s.Measure = func(_ context.Context, asks []Ask) (found []map[string]float64, err error) {
		for _, a := range asks {
			x := 10.0
			if a.Setting != nil {
				_, text, _ := strings.Cut(a.Setting[0], "=")
				if x, err = strconv.ParseFloat(text, 64); err != nil {
					return nil, err
				}
			}
			v := value(x)
			if a.Baseline {
				v = 1
			}
			found = append(found, map[string]float64{"all.avg": v * math.Exp(deviation*random.NormFloat64()), "drops": x})
		}
		return found, nil
	}
	return s
}

// TestSearchFinds: of a valley it finds the bottom, and reports about the gain there.
func TestSearchFinds(t *testing.T) {
	valley := func(x float64) float64 { d := math.Log(x / 40); return math.Exp(d * d / 2) } // at 10: 2.6
	o, err := search(60, 1, 0.05, valley).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(o.Winner[0], "=")
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || x < 25 || x > 64 || !o.Improves {
		t.Errorf("found %v, %+v", x, o)
	}
	if want := valley(x) / valley(10); o.CI95[0] > want || o.CI95[1] < want {
		t.Errorf("the interval %v of %v is without %v", o.CI95, o.Ratio, want)
	}
}

// TestNoiseFoolsNobody: of a parameter that does nothing a gain is reported no more often
// than an interval of 95 % errs on one side.
func TestNoiseFoolsNobody(t *testing.T) {
	const searches = 400
	fooled := 0
	for seed := range uint64(searches) {
		o, err := search(60, seed, 0.2, func(float64) float64 { return 1 }).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if o.Improves {
			fooled++
		}
	}
	// 2.5 % of 400 are 10, and more than 20 come once in a thousand times.
	if fooled > 20 {
		t.Errorf("%d of %d searches found a gain where there is none", fooled, searches)
	}
}

// TestBudget: a search spends no more than its budget, and nearly all of it.
func TestBudget(t *testing.T) {
	for budget := 19; budget < 200; budget += 7 {
		s := search(budget, 1, 0.1, func(x float64) float64 { return 1 / x })
		asked := 0
		inner := s.Measure
		s.Measure = func(ctx context.Context, asks []Ask) ([]map[string]float64, error) {
			asked += len(asks)
			return inner(ctx, asks)
		}
		o, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if o.Spent > budget || o.Spent != asked || o.Winner != nil && budget-o.Spent > 4 {
			t.Errorf("of %d points it spent %d, and asked for %d", budget, o.Spent, asked)
		}
	}
	if _, err := search(10, 1, 0, func(float64) float64 { return 1 }).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "too small") {
		t.Errorf("%v, want an error", err)
	}
}

// TestHeldOut: no seed of the test is one of the search.
func TestHeldOut(t *testing.T) {
	s := search(60, 1, 0.1, func(x float64) float64 { return 1 / x })
	var calls [][]uint64
	inner := s.Measure
	s.Measure = func(ctx context.Context, asks []Ask) ([]map[string]float64, error) {
		var seeds []uint64
		for _, a := range asks {
			seeds = append(seeds, a.Seed)
		}
		calls = append(calls, seeds)
		return inner(ctx, asks)
	}
	if _, err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	searched := slices.Concat(calls[:len(rungs())]...)
	tested := slices.Concat(calls[len(rungs()):]...)
	for _, seed := range tested {
		if slices.Contains(searched, seed) {
			t.Errorf("seed %d is of both", seed)
		}
	}
	if len(tested) != 2*testSeeds {
		t.Errorf("tested with %v", tested)
	}
}

// TestConstraint: a setting that breaks a constraint does not win.
func TestConstraint(t *testing.T) {
	s := search(60, 1, 0, func(x float64) float64 { return 1 / x })
	c, err := ParseConstraint("drops <= 50")
	if err != nil {
		t.Fatal(err)
	}
	s.Constraints = []Constraint{c}
	o, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(o.Winner[0], "=")
	if x, err := strconv.ParseFloat(text, 64); err != nil || x > 50 || x < 25 || !o.Improves {
		t.Errorf("found %s, %+v", text, o)
	}
}

func TestParseConstraint(t *testing.T) {
	for text, want := range map[string]Constraint{
		"large.avg <= 1.03 * baseline": {Metric: "large.avg", Limit: 1.03, Relative: true},
		"large.avg<=baseline":          {Metric: "large.avg", Limit: 1, Relative: true},
		"completed >= 0.99":            {Metric: "completed", AtLeast: true, Limit: 0.99},
	} {
		want.Text = text
		if got, err := ParseConstraint(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "large.avg", "large.avg < 3", "large.avg <= 1 baseline", "large.avg <= * baseline", "huge.avg <= 1", "large.avg <= 0"} {
		if c, err := ParseConstraint(bad); err == nil {
			t.Errorf("%q: %+v, want an error", bad, c)
		}
	}
}

// TestNothingHolds: a search says so when no setting makes a lab that holds together.
func TestNothingHolds(t *testing.T) {
	s := Search{
		Space: []Param{{Key: "x", Low: 1, High: 2}}, Objective: Objective{Metric: "small.p99"},
		Budget: 30, Loads: []float64{0.5}, FirstSeed: 1, Note: func(string) {},
		Measure: func(_ context.Context, asks []Ask) ([]map[string]float64, error) {
			found := make([]map[string]float64, len(asks))
			for i, a := range asks {
				if a.Setting == nil {
					found[i] = map[string]float64{"small.p99": 1}
				}
			}
			return found, nil
		},
	}
	if o, err := s.Run(t.Context()); !errors.Is(err, ErrAsked) {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestNoFigure: a metric that the points do not have is an error, and no gain of zero.
func TestNoFigure(t *testing.T) {
	s := Search{
		Space: []Param{{Key: "x", Low: 1, High: 2}}, Objective: Objective{Metric: "programs.client.rtt"},
		Budget: 30, Loads: []float64{0.5}, FirstSeed: 1, Note: func(string) {},
		Measure: func(_ context.Context, asks []Ask) ([]map[string]float64, error) {
			found := make([]map[string]float64, len(asks))
			for i := range found {
				found[i] = map[string]float64{"marks": 1, "drops": 2}
			}
			return found, nil
		},
	}
	if o, err := s.Run(t.Context()); !errors.Is(err, ErrAsked) || !strings.Contains(err.Error(), "no programs.client.rtt, but drops, marks") {
		t.Errorf("%+v, %v", o, err)
	}
}
