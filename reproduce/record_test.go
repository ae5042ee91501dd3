package reproduce

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/reproduce/card"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
	"aqmlab/results"
)

// again plans the same experiments in the same folder.
func again(t *testing.T, p *Plan, names ...string) *Plan {
	t.Helper()
	q, err := New(names, p.Options)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func dropRuns(t *testing.T, p *Plan) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(p.Out, "runs")); err != nil {
		t.Fatal(err)
	}
}

// The card of the records alone is that of the runs, and what they hold is not
// run again.
func TestCardWithoutRuns(t *testing.T) {
	p := planned(t, Standard, "tcn-fig3")
	finish(t, p)
	want := cardOf(t, p)
	dropRuns(t, p)
	q := again(t, p, "tcn-fig3")
	if got := cardOf(t, q); got != want || strings.Contains(got, "not run:") {
		t.Errorf("the card without runs\n%s\nis not that with them\n%s", got, want)
	}
	if todo, err := q.Todo(); err != nil || todo.Points != 0 || todo.Stored != 6 {
		t.Errorf("to do %+v, %v", todo, err)
	}
	if n := finish(t, again(t, p, "tcn-fig3")); n != 0 {
		t.Errorf("ran %d points that are recorded", n)
	}
}

// Another command that reads the same runs changes nothing in a record.
func TestRecordKeepsItsOrigin(t *testing.T) {
	p := planned(t, Quick, "tcn-fig3")
	finish(t, p)
	file := filepath.Join(p.Out, "quick", "tcn", "tcn-fig3.json")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	q := again(t, p, "tcn-fig3")
	q.Command = "aqmlab reproduce tcn-fig3 --jobs 7"
	finish(t, q)
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("%v, the record was\n%s\nand is\n%s", err, before, after)
	}
}

// What is recorded in part goes on with the rest.
func TestRecordOfAPart(t *testing.T) {
	p := planned(t, Standard, "tcn-fig6")
	scores(t, p, "sim", func(j point) float64 {
		if j.Load == 0.9 {
			return 1
		}
		return 0
	})
	if err := p.updateRecord("tcn-fig6"); err != nil {
		t.Fatal(err)
	}
	dropRuns(t, p)
	todo, err := p.Todo()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range todo.points {
		if c.Load == 0.9 {
			t.Errorf("%v is recorded, and is to be run", c)
		}
	}
	if todo.Points == 0 || todo.Stored == 0 {
		t.Errorf("to do %+v", todo)
	}
}

// An experiment is recorded when a load has all its points, and not before.
func TestKeeper(t *testing.T) {
	p := planned(t, Standard, "tcn-fig6")
	todo, err := p.Todo()
	if err != nil {
		t.Fatal(err)
	}
	k := p.newRecorder(todo)
	left := map[float64]int{}
	for _, c := range todo.points {
		left[c.Load]++
	}
	for _, j := range todo.points {
		measured(t, p, j, "sim", 1)
		if err := k.done(j); err != nil {
			t.Fatal(err)
		}
		left[j.Load]--
		r, err := record.Load(p.Out, "tcn", "tcn-fig6")
		if err != nil {
			t.Fatal(err)
		}
		if there := slices.ContainsFunc(r.Figures, func(f record.Figure) bool { return f.Load == j.Load }); there != (left[j.Load] == 0) {
			t.Fatalf("with %d points left at %v its figures are recorded: %v", left[j.Load], j.Load, there)
		}
	}
	if !k.recorded["tcn-fig6"] {
		t.Error("all its points are done, and it is to be recorded once more")
	}
}

// What experiments share is recorded for all of them, whichever has it in the plan,
// and whatever else of theirs is done before: a claim of ECN#'s Fig. 11 is about the
// lab of Fig. 9.
func TestKeeperOfShared(t *testing.T) {
	p := planned(t, Standard, "ecnsharp-fig9", "ecnsharp-fig11")
	todo, err := p.Todo()
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(todo.points, func(a, b point) int { // those of Fig. 11 first
		return strings.Compare(a.experiment.ID, b.experiment.ID)
	})
	k := p.newRecorder(todo)
	for _, c := range todo.points {
		if c.Load != 0.9 {
			continue
		}
		measured(t, p, c, "sim", 1)
		if err := k.done(c); err != nil {
			t.Fatal(err)
		}
	}
	r, err := record.Load(p.Out, "ecnsharp", "ecnsharp-fig11")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ecnsharp-fig11-c3", "ecnsharp-fig11-c5"} {
		if !slices.ContainsFunc(r.Figures, func(f record.Figure) bool { return f.Claim == want }) {
			t.Errorf("%s has no figure", want)
		}
	}
}

// A larger scale is not spared by the record of a smaller one, and a smaller one
// is by that of a larger; quick runs are no results.
func TestRecordsOfScales(t *testing.T) {
	full := planned(t, Full, "tcn-fig10")
	for _, j := range full.points {
		if j.Load == 0.9 {
			measured(t, full, j, "sim", 1)
		}
	}
	if err := full.updateRecord("tcn-fig10"); err != nil {
		t.Fatal(err)
	}
	dropRuns(t, full)
	for _, tt := range []struct {
		scale Scale
		spare bool
	}{{Full, true}, {Standard, true}, {Quick, false}} {
		o := full.Options
		o.Scale = tt.scale
		p, err := New([]string{"tcn-fig10"}, o)
		if err != nil {
			t.Fatal(err)
		}
		records, err := p.loadRecords()
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range p.points {
			if got := p.recorded(j, records); got != (tt.spare && j.Load == 0.9) {
				t.Errorf("%s: %v is recorded: %v", tt.scale, j, got)
			}
		}
	}
	o := full.Options
	o.Scale = Standard
	standard, err := New([]string{"tcn-fig10"}, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range standard.points {
		measured(t, standard, j, "sim", 2)
	}
	if err := standard.updateRecord("tcn-fig10"); err != nil {
		t.Fatal(err)
	}
	r, err := record.Load(full.Out, "tcn", "tcn-fig10")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range r.Figures {
		if want := map[bool]int{true: 50_000, false: 10_000}[k.Load == 0.9]; k.Flows != want {
			t.Errorf("at %v of %d flows, want %d", k.Load, k.Flows, want)
		}
	}
}

// What was measured before the lab, or the claim, was changed stands on the card
// as such, has no verdict, and is run again.
func TestStale(t *testing.T) {
	p := planned(t, Standard, "tcn-fig3")
	finish(t, p)
	dropRuns(t, p)
	for what, change := range map[string]func(*experiment){
		"lab":   func(s *experiment) { s.lab.Host.InitCwnd++ },
		"claim": func(s *experiment) { s.Claims[0].Windows = []papers.Window{{To: time.Millisecond}} },
	} {
		q := again(t, p, "tcn-fig3")
		change(q.experiments[0])
		q.experiments[0].fingerprints = make(map[results.Coord]string)
		q.points = nil
		if err := q.addPoints(q.experiments[0]); err != nil {
			t.Fatal(err)
		}
		scores, err := q.Card()
		if err != nil {
			t.Fatal(err)
		}
		s := scores[0]
		if f := s.Columns["sim"]; !f.Stale || s.Verdict != card.NotRun || !strings.Contains(s.Reason, "changed") || s.By != "" {
			t.Errorf("%s: %s, %s: %+v", what, s.Verdict, s.Reason, f)
		}
		if text := cardOf(t, q); !strings.Contains(text, "before the lab was changed") {
			t.Errorf("%s: the card\n%s", what, text)
		}
		if todo, err := q.Todo(); err != nil || todo.Points == 0 {
			t.Errorf("%s: to do %+v, %v", what, todo, err)
		}
	}
	// A title is for readers.
	q := again(t, p, "tcn-fig3")
	q.experiments[0].lab.Title = "another"
	if todo, err := q.Todo(); err != nil || todo.Points != 0 {
		t.Errorf("another title: to do %+v, %v", todo, err)
	}
}

// Claims about the same have the same figure, whichever experiment measured it: that of more
// flows. One that was measured for another claim is not measured again.
func TestFigureOfAnother(t *testing.T) {
	p := planned(t, Standard, "ecnsharp-fig9", "ecnsharp-fig11")
	for _, j := range p.points {
		if j.Load == 0.9 && j.experiment.Lab == "ecnsharp/fig9" {
			measured(t, p, j, "sim", 1)
		}
	}
	if err := p.updateRecord("ecnsharp-fig9"); err != nil {
		t.Fatal(err)
	}
	dropRuns(t, p)
	q := again(t, p, "ecnsharp-fig11")
	scores, err := q.Card()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(scores, func(s card.Score) bool { return s.Claim.ID == "ecnsharp-fig11-c3" })
	if f, ok := scores[i].Columns["sim"]; !ok || !strings.HasPrefix(f.Claim, "ecnsharp-fig9-") {
		t.Errorf("figure %+v, want that of Fig. 9", f)
	}
	todo, err := q.Todo()
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(todo.points, func(j point) bool { return j.Load == 0.9 && j.experiment.Lab == "ecnsharp/fig9" }) {
		t.Error("a point is to be run whose figure is there")
	}
}

// What was measured before a time is measured anew, and then takes the place of
// the old, though that be of more flows.
func TestSince(t *testing.T) {
	p := planned(t, Standard, "tcn-fig3")
	finish(t, p)
	p.Since = time.Now().Add(time.Hour)
	if todo, err := p.Todo(); err != nil || todo.Points != 6 {
		t.Errorf("to do %+v, %v", todo, err)
	}
}

// Why a claim has no figure is recorded, too, so that its points are not run in
// vain again.
func TestRecordOfNothing(t *testing.T) {
	p := planned(t, Standard, "tcn-fig12")
	scores(t, p, "sim", func(point) float64 { return 1 })
	if err := p.updateRecord("tcn-fig12"); err != nil {
		t.Fatal(err)
	}
	want := cardOf(t, p)
	dropRuns(t, p)
	if got := cardOf(t, p); got != want || !strings.Contains(got, "50000 flows a point, but at 10000") {
		t.Errorf("the card\n%s\nwas\n%s", got, want)
	}
	if todo, err := p.Todo(); err != nil || todo.Points != 0 {
		t.Errorf("to do %+v, %v", todo, err)
	}
}
