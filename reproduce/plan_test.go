package reproduce

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/orchestrator"
	"aqmlab/reproduce/card"
	"aqmlab/reproduce/papers"
	"aqmlab/trafficgen"
)

func planned(t *testing.T, scale Scale, names ...string) *Plan {
	t.Helper()
	p, err := New(names, Options{Scale: scale, Runtime: "sim", Out: t.TempDir(), Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every claim of every paper has a lab, and a metric or the reason why it has
// none.
func TestEveryClaim(t *testing.T) {
	p := planned(t, Quick, All)
	published, err := papers.All()
	if err != nil {
		t.Fatal(err)
	}
	claims := 0
	for _, paper := range published {
		for _, e := range paper.Experiments {
			claims += len(e.Claims)
			if s := p.experiment(e.ID); s == nil || s.lab.Source.Paper != paper.ID {
				t.Errorf("%s: lab %s is not of the paper", e.ID, e.Lab)
			}
		}
	}
	scores, err := p.Card()
	if err != nil {
		t.Fatal(err)
	}
	if len(scores) != claims {
		t.Errorf("%d of %d claims on the card, %v", len(scores), claims, card.TallyOf(scores).Counts)
	}
	for _, s := range scores {
		ran := s.Verdict != card.NotRun && s.Verdict != card.Described
		if s.By != card.Computed && (ran || s.Reason == "" || s.By != "" || len(s.Columns) > 0) {
			t.Errorf("%s, of which nothing was run, is %s by %q: %s", s.Claim.ID, s.Verdict, s.By, s.Reason)
		}
	}
}

func TestScales(t *testing.T) {
	for _, tt := range []struct {
		scale Scale
		name  string
		loads []float64
		flows int
		seeds int
	}{
		{Full, "tcn-fig6", []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}, 5000, 3},
		{Standard, "tcn-fig6", []float64{0.3, 0.6, 0.9}, 5000, 2},
		{Standard, "tcn-fig10", []float64{0.3, 0.6, 0.9}, 10_000, 2},
		{Full, "tcn-fig10", []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}, 50_000, 3},
		{Standard, "ecnsharp-fig13", []float64{0.15, 0.3, 0.45}, 10_000, 2}, // loads of hosts, which are half of the uplinks'
		{Quick, "tcn-fig6", []float64{0.9}, 5000, 1},
		{Quick, "mqecn-fig7", []float64{0.5, 0.9}, 5000, 1}, // the highest of up to 0.5, and the highest of all
		{Standard, "mqecn-fig9", []float64{0.1, 0.3, 0.6, 0.9}, 10_000, 2},
		{Headline, "mqecn-fig9", []float64{0.1, 0.9}, 50_000, 2}, // that which a headline names, and the highest for "up to"
		{Headline, "ecnsharp-fig13", []float64{0.45}, 50_000, 2},
		{Full, "tcn-fig3", []float64{0.6}, 1000, 3}, // its eight flows have jitter
	} {
		l := planned(t, tt.scale, tt.name).experiment(tt.name).lab
		if !slices.Equal(l.Workload.Load, tt.loads) || l.Workload.Flows != tt.flows || len(l.Seeds) != tt.seeds {
			t.Errorf("%s %s: loads %v, %d flows, seeds %v", tt.scale, tt.name, l.Workload.Load, l.Workload.Flows, l.Seeds)
		}
	}
}

// Another number of seeds takes the place of the scale's, on every runtime. Traffic that is
// the same with any seed has one.
func TestSeedsInPlaceOfTheScales(t *testing.T) {
	for _, runtime := range []orchestrator.Runtime{"sim", "uml"} {
		p, err := New([]string{"tcn-fig6", "tcn-fig5a"}, Options{Scale: Standard, Runtime: runtime, Seeds: 5, Out: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.experiments {
			if !slices.Equal(e.lab.Seeds, []uint64{1, 2, 3, 4, 5}) {
				t.Errorf("%s: %s has seeds %v", runtime, e, e.lab.Seeds)
			}
		}
		e := p.experiment("tcn-fig5a")
		e.lab.Workload.Jitter = 0
		if _, err := p.scale(e); err != nil || !slices.Equal(e.lab.Seeds, []uint64{1}) {
			t.Errorf("%s: without jitter %s has seeds %v (%v)", runtime, e, e.lab.Seeds, err)
		}
	}
}

// An experiment may be named as its lab is, and an unknown one as it was asked for.
func TestNamesOfLabs(t *testing.T) {
	if p := planned(t, Quick, "tcn/fig3"); len(p.points) == 0 || p.points[0].experiment.ID != "tcn-fig3" {
		t.Errorf("planned %v", p.points)
	}
	if _, err := New([]string{"tcn/fig99"}, Options{Scale: Quick, Runtime: "sim", Out: t.TempDir()}); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), `"tcn/fig99"`) {
		t.Errorf("error %v", err)
	}
}

// Of an experiment of which a claim is named, the points are run that the claim needs, here
// beside those of the experiment that has its baseline. An experiment that is named as well is run
// whole.
func TestNamesOfClaims(t *testing.T) {
	p := planned(t, Standard, "tcn/fig8-c3")
	var got []string
	for _, j := range p.points {
		if got = append(got, j.String()); j.Scheme != "tcn" || j.Load != 0.9 {
			t.Errorf("planned %v, which tcn-fig8-c3 does not need", j)
		}
	}
	if len(got) != 4 { // two seeds of each experiment
		t.Errorf("planned %v", got)
	}
	if scores, err := p.Card(); err != nil || len(scores) < 2 {
		t.Errorf("the card has %d claims of the experiment, %v", len(scores), err)
	}
	whole, both := planned(t, Standard, "tcn-fig8"), planned(t, Standard, "tcn-fig8", "tcn-fig8-c3")
	if len(both.points) != len(whole.points) {
		t.Errorf("%d points, of the experiment alone %d", len(both.points), len(whole.points))
	}
	for name, want := range map[string]string{"tcn-fig8-c33": "tcn-fig8-c3", "tcn-fig10-c2": "headline"} {
		if _, err := New([]string{name}, Options{Scale: Headline, Runtime: "sim", Out: t.TempDir()}); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", name, err, want)
		}
	}
}

// Of the loads of a scale those that were asked for are run, with as many flows as
// were asked for and published.
func TestLoadsAndFlows(t *testing.T) {
	o := Options{Scale: Standard, Runtime: "uml", Out: t.TempDir(), Jobs: 2, Loads: []float64{0.9}}
	for _, tt := range []struct{ asked, want int }{{0, 1000}, {3000, 3000}, {20_000, 5000}} {
		o.Flows = tt.asked
		p, err := New([]string{"tcn-fig6"}, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.points) == 0 {
			t.Error("nothing is planned")
		}
		for _, j := range p.points {
			if j.Load != 0.9 || j.experiment.lab.Workload.Flows != tt.want {
				t.Errorf("planned %v of %d flows, want %d at 0.9 alone", j, j.experiment.lab.Workload.Flows, tt.want)
			}
		}
	}
	o.Loads = []float64{0.9, 0.95}
	if _, err := New([]string{"tcn-fig6"}, o); !errors.Is(err, kind.ErrUnknown) || !strings.Contains(err.Error(), "0.6, 0.9") {
		t.Errorf("a load that the experiment has not: error %v", err)
	}
}

// The headline scale runs what headline claims are about, of them and of what they
// look at in other experiments, and nothing else.
func TestHeadline(t *testing.T) {
	p := planned(t, Headline, "tcn-fig13")
	for _, j := range p.points {
		if j.Load != 0.9 || j.experiment.lab.Workload.Flows != 50_000 {
			t.Errorf("planned %v of %d flows", j, j.experiment.lab.Workload.Flows)
		}
		if j.experiment.ID != "tcn-fig13" && j.experiment.ID != "tcn-fig12" {
			t.Errorf("planned %v, which no claim of Fig. 13 looks at", j)
		}
	}
	if len(p.points) == 0 {
		t.Error("nothing is planned")
	}
	if _, err := New([]string{"tcn-fig1"}, Options{Scale: Headline, Runtime: "sim"}); !errors.Is(err, ErrUnknown) {
		t.Errorf("an experiment without a headline: error %v, want %v", err, ErrUnknown)
	}
}

// An experiment takes along what its claims look at in another, and no more.
func TestBaselineOfAnother(t *testing.T) {
	p := planned(t, Standard, "tcn-fig8")
	for _, j := range p.points {
		if j.experiment.ID == "tcn-fig6" && (j.Scheme != "tcn" || j.Load != 0.9) {
			t.Errorf("planned %v, which no claim of Fig. 8 looks at", j)
		}
	}
	if !slices.ContainsFunc(p.points, func(j point) bool { return j.experiment.ID == "tcn-fig6" }) {
		t.Error("Fig. 8 lacks its baseline in Fig. 6")
	}
	scores, err := p.Card()
	if err != nil || len(scores) != 9 {
		t.Errorf("%d claims on the card of Fig. 8, %v", len(scores), err)
	}
}

// No point is planned twice, and none for claims that cannot be measured.
func TestJobs(t *testing.T) {
	p := planned(t, Standard, All)
	seen := map[string]bool{}
	for _, j := range p.points {
		if seen[j.key] {
			t.Errorf("%v is planned twice", j)
		}
		seen[j.key] = true
		if j.cost <= 0 {
			t.Errorf("%v costs %v", j, j.cost)
		}
		if j.experiment.ID == "tcn-sec6.2-isolation-sim" {
			t.Errorf("%v: nothing is claimed of it", j)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	if _, err := New([]string{"tcn-fig99"}, Options{Scale: Quick, Runtime: "sim"}); !errors.Is(err, ErrUnknown) {
		t.Errorf("error %v, want %v", err, ErrUnknown)
	}
	if _, err := New([]string{"tcn"}, Options{Scale: Quick, Runtime: orchestrator.Auto}); err == nil {
		t.Error("runtime auto was taken")
	}
}

// The TCP of a kernel, which is many times dearer than a model of it, has fewer
// flows, loads and seeds at the standard scale; a guest takes longer than the model.
func TestScaleOfKernels(t *testing.T) {
	p, err := New([]string{"tcn-fig6"}, Options{Scale: Standard, Runtime: "uml", Out: t.TempDir(), Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	l := p.experiment("tcn-fig6").lab
	if !slices.Equal(l.Workload.Load, []float64{0.6, 0.9}) || l.Workload.Flows != 1000 || len(l.Seeds) != 1 {
		t.Errorf("loads %v, %d flows, seeds %v", l.Workload.Load, l.Workload.Flows, l.Seeds)
	}
	for _, tt := range []struct {
		runtime orchestrator.Runtime
		workers int
	}{{"uml", 2}, {"sim", 2}, {"netns", 1}, {"docker", 1}} {
		p.Runtime = tt.runtime
		if got := p.workers(); got != tt.workers {
			t.Errorf("%s: %d points at once, want %d", tt.runtime, got, tt.workers)
		}
	}
	p.Runtime = "uml"
	flows, err := trafficgen.Trace(l.Traffic(0.9, 1))
	if err != nil {
		t.Fatal(err)
	}
	model := Options{Runtime: "sim"}.cost(l, flows)
	if guest := p.cost(l, flows); guest < 20*model {
		t.Errorf("a guest takes %v s, the model %v", guest, model)
	}
}

// Real hosts run what the papers ran on testbeds; a plan says what it leaves out.
func TestLeftOut(t *testing.T) {
	for _, tt := range []struct {
		names   []string
		runtime orchestrator.Runtime
		want    string
	}{
		{[]string{"tcn-fig10", "tcn-fig6"}, "netns", "a simulation in its paper, run by --runtime sim alone: tcn-fig10"},
		{[]string{"tcn"}, "uml", "experiments are simulations in their papers"},
		{[]string{"tcn-fig6"}, "uml", ""},
		{[]string{"tcn"}, "sim", ""},
	} {
		p, err := New(tt.names, Options{Scale: Standard, Runtime: tt.runtime, Out: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Warnings, "; "); !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
			t.Errorf("%v on %s: warned %q, want %q", tt.names, tt.runtime, got, tt.want)
		}
	}
}

// The dearest experiments come first, with all their points; the plan is listed
// by experiment.
func TestOrder(t *testing.T) {
	a, b := &experiment{paper: "x", Experiment: papers.Experiment{ID: "x-a"}}, &experiment{paper: "x", Experiment: papers.Experiment{ID: "x-b"}}
	todo := Todo{factor: 2, points: []point{{experiment: a, cost: 1}, {experiment: b, cost: 2}, {experiment: a, cost: 4}, {experiment: b, cost: 3}}}
	todo.order()
	var costs []float64
	for _, c := range todo.points {
		costs = append(costs, c.cost)
	}
	if !slices.Equal(costs, []float64{4, 1, 3, 2}) {
		t.Errorf("order %v", costs)
	}
	want := []Estimate{{"x", "x-a", 2, 10 * time.Second}, {"x", "x-b", 2, 10 * time.Second}}
	if got := todo.ByExperiment(); !slices.Equal(got, want) {
		t.Errorf("shares %+v, want %+v", got, want)
	}
}

// Workers take the next point when they are done with one.
func TestTakes(t *testing.T) {
	todo := Todo{points: []point{{cost: 3}, {cost: 1}, {cost: 1}, {cost: 2}}}
	if got := todo.takes(2); got != 4*time.Second {
		t.Errorf("two workers take %v, want 4s", got)
	}
	if got := todo.takes(1); got != 7*time.Second {
		t.Errorf("one worker takes %v, want 7s", got)
	}
}
