package reproduce

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/reproduce/card"
)

// finish runs what is to do and returns how many points that was.
func finish(t *testing.T, p *Plan) int {
	t.Helper()
	todo, err := p.Todo()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context(), todo, func(Progress) {}); err != nil {
		t.Fatal(err)
	}
	return todo.Points
}

// An experiment that is interrupted goes on where it was, and its card is then
// that of an uninterrupted one.
func TestResume(t *testing.T) {
	p := planned(t, Quick, "tcn-fig3")
	p.Jobs = 1
	todo, err := p.Todo()
	if err != nil || todo.Points != 3 || todo.Stored != 0 || todo.Takes <= 0 {
		t.Fatalf("to do %+v, %v", todo, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = p.Run(ctx, todo, func(s Progress) {
		if s.Points == 1 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: error %v", err)
	}
	todo, err = p.Todo()
	if err != nil || todo.Stored < 1 || todo.Stored == 3 || todo.Points+todo.Stored != 3 {
		t.Fatalf("after the interruption to do %+v, %v", todo, err)
	}
	if n := finish(t, p); n != todo.Points {
		t.Errorf("ran %d points, want %d", n, todo.Points)
	}
	if n := finish(t, p); n != 0 {
		t.Errorf("ran %d points that were stored", n)
	}
	whole := planned(t, Quick, "tcn-fig3")
	finish(t, whole)
	if a, b := cardOf(t, p), cardOf(t, whole); a != b {
		t.Errorf("the card of the interrupted run\n%s\nis not that of the other\n%s", a, b)
	}
}

func cardOf(t *testing.T, p *Plan) string {
	t.Helper()
	scores, err := p.Card()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := card.WriteText(&text, scores); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// What a killed run left of a point is removed, and the point run again.
func TestKilled(t *testing.T) {
	p := planned(t, Quick, "tcn-sec5-limiter")
	folder := p.store().Folder(p.points[0].key)
	left := filepath.Join(filepath.Dir(folder), ".partial-"+filepath.Base(folder))
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if n := finish(t, p); n != 1 {
		t.Errorf("ran %d points, want 1", n)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what the killed run left: %v", err)
	}
}

// cardJSON is the card as programs read it.
type cardJSON struct {
	Claims []struct {
		ID, Experiment, Paper, Unit string
		Published, Sim, Testbed     *float64
		Verdict                     card.Verdict
	}
	Counts map[card.Verdict]int
}

func jsonOf(t *testing.T, p *Plan) (got cardJSON) {
	t.Helper()
	scores, err := p.Card()
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(card.ToJSON(scores, string(p.Scale)))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// The card as JSON has a row for every claim, and null for what is not known.
func TestJSON(t *testing.T) {
	p := planned(t, Quick, "tcn-fig2")
	before := jsonOf(t, p)
	if len(before.Claims) != 7 || before.Counts[card.NotRun] != 7 || len(before.Counts) != len(card.Verdicts()) {
		t.Fatalf("before the run %+v", before)
	}
	finish(t, p)
	got := jsonOf(t, p)
	if len(got.Claims) != 7 || got.Counts[card.NotRun] != 0 {
		t.Fatalf("got %+v", got)
	}
	first := got.Claims[0]
	if first.ID != "tcn-fig2-c1" || first.Experiment != "tcn-fig2" || first.Paper != "tcn" || first.Unit != "Mbps" ||
		first.Published == nil || *first.Published != 5000 || first.Sim == nil || first.Testbed != nil || first.Verdict == card.NotRun {
		t.Errorf("first claim %+v", first)
	}
	if c := before.Claims[1]; c.Sim != nil || c.Verdict != card.NotRun {
		t.Errorf("a claim that was not run %+v", c)
	}
}

// Text of the card: what the paper has, what was measured, and where.
func TestTable(t *testing.T) {
	p := planned(t, Quick, "tcn-fig3")
	if text := cardOf(t, p); !strings.Contains(text, "not run: ") || !strings.Contains(text, "0 of 4 claims established") || !strings.Contains(text, "375 KB") {
		t.Errorf("card of nothing:\n%s", text)
	}
}

// A run at another scale does not stand in for a point.
func TestScalesAreApart(t *testing.T) {
	small, err := New([]string{"tcn-fig6"}, Options{Scale: Quick, Runtime: "sim", Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	full, err := New([]string{"tcn-fig10"}, Options{Scale: Full, Runtime: "sim", Out: small.Out})
	if err != nil {
		t.Fatal(err)
	}
	quick, err := New([]string{"tcn-fig10"}, Options{Scale: Quick, Runtime: "sim", Out: small.Out})
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, j := range full.points {
		keys[j.key] = true
	}
	for _, j := range quick.points {
		if keys[j.key] {
			t.Errorf("%v is the same at both scales", j)
		}
	}
}

// Fig. 5 of MQ-ECN tells of the sizes in the traffic of Fig. 7, whose lab it
// shares. It is no experiment on a testbed, Fig. 7 is: on a kernel its points are
// run, and the record of Fig. 7 has them all.
func TestSharedPoints(t *testing.T) {
	experiments := []string{"mqecn-fig5", "mqecn-fig7"}
	p, err := New(experiments, Options{Scale: Standard, Runtime: "uml", Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	todo, err := p.Todo()
	if err != nil || todo.Points != 9 { // three schemes at loads of 0.5, 0.6 and 0.9
		t.Errorf("%d points to run, want 9; error %v", todo.Points, err)
	}
	// On the wall clock all points of a lab share its hosts.
	if p, err = New(experiments, Options{Scale: Standard, Runtime: "netns", Out: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	if todo, err = p.Todo(); err != nil || todo.Points != 9 {
		t.Errorf("%d points for three loads of three schemes, error %v", todo.Points, err)
	}
	for _, u := range todo.units() {
		if u.Set != todo.units()[0].Set {
			t.Errorf("%v is not of the others' set", u.Coord)
		}
	}
	p = planned(t, Quick, experiments...)
	p.points = nil
	for _, s := range p.experiments {
		s.lab.Workload.Flows, s.lab.Workload.Load = 20, []float64{0.9}
		if err := p.addPoints(s); err != nil {
			t.Fatal(err)
		}
	}
	finish(t, p)
	records, err := p.loadRecords()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(records["mqecn-fig7"].Points); n != 3 {
		t.Errorf("%d points in the record, want one of each scheme", n)
	}
}
