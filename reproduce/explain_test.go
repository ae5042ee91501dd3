package reproduce

import (
	"math"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/reproduce/card"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
)

// Why a point that was run says nothing stands on the card, and not that the
// other column has none.
func TestReasonOfWhatWasRun(t *testing.T) {
	p := planned(t, Standard, "tcn-fig12")
	got := scores(t, p, "sim", func(point) float64 { return 1 })
	if s := got["tcn-fig12-c3"]; s.Verdict != card.NotRun || !strings.Contains(s.Reason, "50000 flows a point, but at 10000") {
		t.Errorf("%s: %s", s.Verdict, s.Reason)
	}
}

// A claim may compare two queues, or two windows, of one scheme.
func TestBase(t *testing.T) {
	lab := &labs.Lab{Host: labs.Host{MTU: 1500}}
	s := &experiment{lab: lab}
	points := []results.Point{{Queues: sending([]int64{1000}, []int64{1500})}}
	c := papers.Claim{Metric: "queue-goodput", Port: "h1", Queue: 1, Windows: oneSecond(), Base: papers.Base{Queue: new(int)}}
	if f, err := unpaired(side{s, c, points}, side{s, c.OfBase(), points}); err != nil || f.Value != 50 {
		t.Errorf("queue 1 against queue 0: %+v, %v", f, err)
	}
	points = []results.Point{{Queues: sending([]int64{100, 700})}}
	tenth := 100 * time.Millisecond
	c = papers.Claim{Metric: "queue-goodput", Port: "h1", Windows: []papers.Window{{From: tenth, To: 2 * tenth}}, Base: papers.Base{Windows: []papers.Window{{To: tenth}}}}
	if f, err := unpaired(side{s, c, points}, side{s, c.OfBase(), points}); err != nil || math.Abs(float64(f.Value)-600) > 1e-9 {
		t.Errorf("the second window against the first: %+v, %v", f, err)
	}
}

// Claims about loads up to some load name the highest of these.
func TestNamedLoads(t *testing.T) {
	published := []float64{0.1, 0.3, 0.5, 0.7}
	got := namedLoads([]papers.Claim{{Load: 0.1}, {MaxLoad: 0.6}, {MinLoad: 0.6}, {MaxLoad: 0.05}}, published)
	if len(got) != 2 || got[0] != 0.1 || got[1] != 0.5 {
		t.Errorf("named %v, want 0.1 and 0.5", got)
	}
}
