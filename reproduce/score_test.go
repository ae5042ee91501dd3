package reproduce

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/card"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
	"aqmlab/results"
)

// measured stores a run of a point of the plan as if a runtime had measured it:
// flows of each class that take so many times a millisecond.
func measured(t *testing.T, p *Plan, j point, runtime string, times float64) {
	t.Helper()
	measuredFlows(t, p, j, runtime, func(f *results.Flow) { f.FCT = time.Duration(times * float64(time.Millisecond)) })
}

// measuredFlows does so with flows that were changed.
func measuredFlows(t *testing.T, p *Plan, j point, runtime string, change func(*results.Flow)) {
	t.Helper()
	lab, err := j.experiment.lab.Restricted([]string{j.Scheme}, j.Load, j.Seed)
	if err != nil {
		t.Fatal(err)
	}
	yaml, err := lab.YAML()
	if err != nil {
		t.Fatal(err)
	}
	m := results.Manifest{
		Start: time.Unix(0, 0), Runtime: runtime, Lab: lab.Name, Schemes: []string{j.Scheme}, Loads: []float64{j.Load}, Seeds: []uint64{j.Seed},
	}
	point := results.Point{Coord: j.Coord, Fidelity: results.Fidelity{Label: results.FidelityExact}}
	for i := range 60 {
		bytes := []int64{10_000, 1_000_000, 20_000_000}[i%3]
		start := time.Duration(i) * time.Millisecond
		f := results.Flow{ID: int64(i), Start: start, Sent: start, Bytes: bytes, Received: bytes}
		change(&f)
		point.Flows = append(point.Flows, f)
	}
	if err := p.store().Put(j.key, m, yaml, point); err != nil {
		t.Fatal(err)
	}
}

// scores measures all points of Fig. 6 with what took times as long, and indexes
// the card by claim.
func scores(t *testing.T, p *Plan, runtime string, times func(point) float64) map[string]card.Score {
	t.Helper()
	for _, j := range p.points {
		if f := times(j); f > 0 {
			measured(t, p, j, runtime, f)
		}
	}
	scores, err := p.Card()
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]card.Score{}
	for _, s := range scores {
		byID[s.Claim.ID] = s
	}
	return byID
}

// A claim is judged at the load that supports it most or least, as it says.
func TestCardOfFlows(t *testing.T) {
	p := planned(t, Standard, "tcn-fig6")
	got := scores(t, p, "sim", func(j point) float64 {
		switch {
		case j.Scheme == "mq-ecn" && j.Load != 0.3:
			return 0 // not run
		case j.Scheme != "tcn":
			return 100
		}
		return map[float64]float64{0.3: 20, 0.6: 40, 0.9: 60}[j.Load] // a gain of 80, 60 and 40 %
	})
	for _, tt := range []struct {
		id      string
		value   float64
		load    float64
		verdict card.Verdict
	}{
		{"tcn-fig6-c1", -40, 0.9, card.Reproduced},    // up to 2.5 % at 0.7 and more: 0.9 is the only one
		{"tcn-fig6-c2", -40, 0.9, card.DirectionOnly}, // 61.4 % at 0.9
		{"tcn-fig6-c3", -80, 0.3, card.Reproduced},    // up to 73.3 %, at any load
		{"tcn-fig6-c5", -80, 0.3, card.NotReproduced}, // close at all loads
		{"tcn-fig6-c6", -80, 0.3, card.NotReproduced}, // at the one load that was run
		{"tcn-fig6-c7", 0, 0.9, card.NotReproduced},   // lower, and it is the same
	} {
		s := got[tt.id]
		f := s.Columns["sim"]
		if math.Abs(float64(f.Value)-tt.value) > 1e-6 || f.Load != tt.load || s.Verdict != tt.verdict || s.By != "sim" {
			t.Errorf("%s: %+v of %+v, want %v %% at %v: %s", tt.id, s.Verdict, f, tt.value, tt.load, tt.verdict)
		}
	}
	if s := got["tcn-fig6-c8"]; s.Verdict != card.NotRun || s.Reason == "" {
		t.Errorf("MQ-ECN at high load, which was not run: %+v", s)
	}
	c2 := got["tcn-fig6-c2"]
	if f := c2.Columns["sim"]; f.From != 100_000 || f.To != 60_000 || f.CI95 == nil || f.Seeds != 2 || f.Flows != 60 || c2.Chance {
		t.Errorf("values of both: %+v", f)
	}
	if !got["tcn-fig6-c7"].Chance {
		t.Error("a difference of none is not called chance")
	}
}

// The verdict is of the paper's own environment where it was run, and of the
// runtimes of real hosts first of the one in virtual time.
func TestColumns(t *testing.T) {
	sim := planned(t, Standard, "tcn-fig6")
	scores(t, sim, "sim", func(point) float64 { return 100 })
	var got map[string]card.Score
	for _, tt := range []struct {
		runtime orchestrator.Runtime
		gain    float64
	}{{"uml", 70}, {"netns", 10}} {
		if err := sim.updateRecord("tcn-fig6"); err != nil {
			t.Fatal(err)
		}
		o := sim.Options
		o.Runtime = tt.runtime
		p, err := New([]string{"tcn-fig6"}, o)
		if err != nil {
			t.Fatal(err)
		}
		got = scores(t, p, string(tt.runtime), func(j point) float64 {
			if j.Scheme == "tcn" {
				return 100 - tt.gain
			}
			return 100
		})
		sim = p
	}
	s := got["tcn-fig6-c2"]
	if real, ok := s.Testbed(); !ok || real != "uml" || len(s.Columns) != 3 || s.By != "uml" || s.Verdict != card.Reproduced {
		t.Errorf("%s by %s: %+v", s.Verdict, s.By, s.Columns)
	}
	for r, want := range map[orchestrator.Runtime]float64{"sim": 0, "uml": -70, "netns": -10} {
		if f := s.Columns[r]; math.Abs(float64(f.Value)-want) > 1e-6 {
			t.Errorf("%s: %+v, want %v %%", r, f, want)
		}
	}
	var text strings.Builder
	if err := card.WriteText(&text, []card.Score{s}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"up to -61.4 %", "-70 % (-70 to -70)", "-10 % (-10 to -10)", "+0 %", "sim  ", "uml  ", "netns  "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the card has no %q:\n%s", want, &text)
		}
	}
	var figures []card.Figure
	for _, f := range s.Columns {
		figures = append(figures, f)
	}
	s.Experiment.Environment = papers.Simulator
	if s = card.ScoreClaim("tcn", s.Experiment, s.Claim, figures); s.By != "sim" || s.Verdict != card.NotReproduced {
		t.Errorf("what the paper simulated is %s by %s", s.Verdict, s.By)
	}
}

// Runs that cannot be read are an error that names them, and not a claim that
// was not run.
func TestDamagedRun(t *testing.T) {
	p := planned(t, Quick, "tcn-fig7")
	scores(t, p, "sim", func(point) float64 { return 1 })
	files, err := filepath.Glob(filepath.Join(p.Out, "runs", "points", "*", "*", "*", "flows.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte("no parquet"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Card(); err == nil || !strings.Contains(err.Error(), "flows.parquet") {
		t.Errorf("error %v", err)
	}
}

// The card shows the flows that the points had, which for traffic that is not
// drawn, or comes with more, are not as many as the lab's; of seeds that were run at
// two scales those of the figure's.
func TestFlowsOfTheRun(t *testing.T) {
	p := planned(t, Standard, "tcn-fig2")
	for _, s := range scores(t, p, "sim", func(point) float64 { return 1 }) {
		if f, ok := s.Columns["sim"]; ok && f.Flows != 60 {
			t.Errorf("%s: %d flows, want 60", s.Claim.ID, f.Flows)
		}
	}
	lab := p.experiments[0].lab.Name
	point := func(lab string, seed uint64, flows int) record.Point {
		return record.Point{Lab: lab, Coord: results.Coord{Scheme: "a", Load: 0.5, Seed: seed}, Runtime: "sim", Flows: flows}
	}
	r := &record.Record{Points: []record.Point{point("b", 1, 1000), point(lab, 1, 17), point(lab, 2, 900), point(lab, 3, 50)}}
	f := record.Figure{Scheme: "a", Load: 0.5, Flows: 1000, Runtime: "sim"}
	if got := flowsOf(r, p.experiments[0], f); got != 900 {
		t.Errorf("%d flows, want those of the figure's scale", got)
	}
	f.Runtime = "uml"
	if got := flowsOf(r, p.experiments[0], f); got != 1000 {
		t.Errorf("%d flows without a point", got)
	}
	f.Runtime = "sim"
	for i := range r.Points {
		r.Points[i].Measured = f.Measured.Add(time.Hour)
	}
	if got := flowsOf(r, p.experiments[0], f); got != 1000 {
		t.Errorf("%d flows, want the figure's: all points were measured anew since, with a scheme that it is not about", got)
	}
}

// A figure of few flows stands beside points of many, which a record keeps. Where flows come one
// by one, it says how many it had itself.
func TestFlowsBesideLargerPoints(t *testing.T) {
	p := planned(t, Standard, "mqecn-fig9")
	e := p.experiment("mqecn-fig9")
	c := e.Claims[slices.IndexFunc(e.Claims, func(c papers.Claim) bool { return c.ID == "mqecn-fig9-c8" })]
	at := results.Coord{Scheme: c.Scheme, Load: c.Load}
	of, err := p.fingerprint(e, c, at)
	if err != nil {
		t.Fatal(err)
	}
	r := record.New("mqecn", e.ID)
	r.Figures = []record.Figure{{Claim: c.ID, Runtime: "sim", Scheme: at.Scheme, Load: at.Load, Flows: 10_000, Fingerprint: of, Measured: time.Unix(100, 0)}}
	r.Points = []record.Point{{Lab: e.lab.Name, Runtime: "sim", Coord: at, Flows: 50_000, Measured: time.Unix(0, 0)}}
	got := p.figures(map[string]*record.Record{e.ID: r}, e, c)
	if len(got) != 1 || got[0].Flows != 10_000 {
		t.Errorf("%+v, want one of 10000 flows", got)
	}
}
