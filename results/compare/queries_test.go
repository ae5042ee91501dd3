package compare

import (
	"strings"
	"testing"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

func TestCompareQueriesByHand(t *testing.T) {
	c := compared(t, []results.Point{resultstest.Queried("a", 1, 100, 200, 300, 900), resultstest.Queried("b", 1, 50, 100, 150, 0)})
	for _, want := range []Row{
		{Scheme: "a", Class: results.Queries, Metric: Mean, Value: 375, Normalized: 1},
		{Scheme: "a", Class: results.Queries, Metric: P99, Value: 900, Normalized: 1},
		// Paired on the three that completed under both: 100 against 200.
		{Scheme: "b", Class: results.Queries, Metric: Mean, Value: 100, Normalized: 0.5, Difference: -50},
		{Scheme: "b", Class: results.Queries, Metric: P99, Value: 150, Normalized: 0.5, Difference: -50},
	} {
		got, _ := c.Row(want.Scheme, 0.5, want.Class, want.Metric)
		if got.Value != want.Value || got.Normalized != want.Normalized || got.Difference != want.Difference {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if total, _ := c.Total("b", 0.5); total.Queries != 4 || total.QueriesCompleted != 3 {
		t.Errorf("totals %+v", total)
	}
	wantWarning(t, c, "1 of 4 queries of b at load 0.5 did not complete and are in no QCT")
	wantWarning(t, c, "load 0.5 has 4 complete queries: too few for a verdict (10 needed)")
}

// A scheme that slows down one flow of a query makes the query worse, whatever
// the other flows do; what does not change makes no difference.
func TestVerdictsOnQueries(t *testing.T) {
	base := make([]int, 200)
	slow, same := make([]int, 200), make([]int, 200)
	for i := range base {
		base[i] = 100 + 7*(i%13)
		slow[i], same[i] = base[i]*3/2, base[i]
	}
	points := []results.Point{resultstest.Queried("a", 1, base...), resultstest.Queried("slow", 1, slow...), resultstest.Queried("same", 1, same...)}
	for i := range points[1].Flows {
		if i%2 == 0 {
			points[1].Flows[i].FCT /= 2 // faster, and of no use
		}
	}
	c := compared(t, points)
	for scheme, want := range map[string]Verdict{"slow": Worse, "same": NoDifference} {
		for _, m := range []Metric{Mean, P99} {
			r, ok := c.Row(scheme, 0.5, results.Queries, m)
			if !ok || r.Verdict != want {
				t.Errorf("%s of %s: %+v, want %s", m, scheme, r, want)
			}
		}
	}
	text := c.Findings()[0].Text
	if !strings.Contains(text, "p99 of queries 50 % higher") || !strings.Contains(text, "query average 50 % higher") {
		t.Errorf("finding %q", text)
	}
	wantWarning(t, c, "p99 of queries at load 0.5 rests on 200")
}

// Records from before queries were kept are compared by their flows alone.
func TestRecordsWithoutQueries(t *testing.T) {
	old := resultstest.Queried("old", 1, 100, 200)
	for i := range old.Flows {
		old.Flows[i].Query = 0
	}
	c := compared(t, []results.Point{resultstest.Queried("a", 1, 100, 200), old})
	if _, ok := c.Row("old", 0.5, results.Queries, Mean); ok {
		t.Error("flows of no query have a row of queries")
	}
	if _, ok := c.Row("old", 0.5, results.All, Mean); !ok {
		t.Error("flows are not compared")
	}
	other := resultstest.Queried("b", 1, 100, 200)
	other.Flows[3].Query = 9
	if _, err := Points([]results.Point{resultstest.Queried("a", 1, 100, 200), other}, ""); err == nil || !strings.Contains(err.Error(), "flow 3 is of query 2 in one and 9 in the other") {
		t.Errorf("other queries: %v", err)
	}
}

func TestFindings(t *testing.T) {
	row := func(class results.Class, m Metric, difference, low, high float64, v Verdict) Row {
		return Row{"tcn", 0.9, class, m, 1, 1 + difference/100, difference, [2]float64{low, high}, v}
	}
	for _, c := range []struct {
		name string
		rows []Row
		want string
	}{
		{"small tail", []Row{row(results.All, Mean, -1, -4, 2, NoDifference), row(results.Small, P99, -61, -70, -48, Better)},
			"small p99 61 % lower than droptail (95 % interval 48 to 70), no difference overall"},
		{"both ways", []Row{row(results.All, Mean, 7.25, 2.04, 12, Worse), row(results.Small, Mean, -20, -30, -10, Better), row(results.Large, Mean, 30, 20, 40.4, Worse)},
			"small average 20 % lower than droptail (95 % interval 10 to 30), large average 30 % higher (20 to 40), 7.2 % higher overall (2.0 to 12)"},
		{"only overall", []Row{row(results.All, Mean, -12, -15, -8, Better)}, "12 % lower than droptail overall (95 % interval 8.0 to 15)"},
		{"nothing", []Row{row(results.All, Mean, -1, -4, 2, NoDifference)}, "no difference from droptail found"},
	} {
		cmp := Comparison{Baseline: "droptail", Schemes: []string{"droptail", "tcn"}, Loads: []float64{0.9}, Rows: c.rows}
		got := cmp.Findings()
		if len(got) != 1 || got[0].Text != c.want || got[0].Scheme != "tcn" || got[0].Load != 0.9 {
			t.Errorf("%s: got %+v, want %q", c.name, got, c.want)
		}
	}
}

func compared(t *testing.T, points []results.Point) Comparison {
	t.Helper()
	c, err := Points(points, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}
