package report

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

// A queue that sends 1500 bytes every 2 ms has 6 Mbps, in every bin.
func TestRatesByHand(t *testing.T) {
	var samples []results.QueueSample
	for i := range 300 {
		at := time.Duration(i) * 2 * time.Millisecond
		samples = append(samples,
			results.QueueSample{At: at, Switch: "s", Port: "p", Queue: 3, Sent: 1500},
			results.QueueSample{At: at, Switch: "s", Port: "other", Queue: 3, Sent: 9e6})
	}
	got := ratesOf("tcn", sentBy(results.PortName{Switch: "s", Port: "p"}, samples), 600*time.Millisecond)
	if len(got.lines) != 1 || len(got.lines[3]) != rateBins {
		t.Fatalf("%d queues, %d bins", len(got.lines), len(got.lines[3]))
	}
	for i, p := range got.lines[3] {
		if want := 5000 + 10_000*float64(i); math.Abs(p.X-want) > 1e-6 || p.Y != 6 {
			t.Errorf("bin %d: %v, want 6 Mbps at %v us", i, p, want)
		}
	}
}

func TestRatesAreOfTheBusiestQueues(t *testing.T) {
	var samples []results.QueueSample
	for q := range int32(rateLines + 2) {
		samples = append(samples, results.QueueSample{Switch: "s", Port: "p", Queue: q, Sent: int64(q)})
	}
	got := ratesOf("tcn", sentBy(results.PortName{Switch: "s", Port: "p"}, samples), time.Second)
	if _, slow := got.lines[0]; slow || len(got.lines) != rateLines {
		t.Errorf("queues %v", got.lines)
	}
}

// Figures of one scale can be laid side by side; a time or a rate has the unit
// that its numbers are short in.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		low, high float64 // in us
		want      string
	}{{0, 900, "µs"}, {70, 9000, "µs"}, {70, 1e6, "ms"}, {0, 9e6, "ms"}, {0, 6e7, "s"}, {2e6, 6e7, "s"}} {
		if got := timeUnit(c.low, c.high); got.name != c.want {
			t.Errorf("%v to %v us: in %s, want %s", c.low, c.high, got.name, c.want)
		}
	}
	fast := rates{"tcn", map[int32][]results.XY{0: {{Y: 9500}}, 1: {{Y: 40}}}}
	slow := rates{"codel", map[int32][]results.XY{0: {{Y: 100}}}}
	figures := marks(nil).rateFigures("queue", []rates{fast, slow}, time.Second, 0.5)
	if len(figures) != 2 || figures[0].Y.High != figures[1].Y.High || figures[0].Y.High != 9.5 || !strings.Contains(figures[0].Y.Title, "Gbps") {
		t.Errorf("axes %+v", figures)
	}
	names := []string{figures[0].Name, figures[0].Series[1].Name}
	if !slices.Equal(names, []string{"goodput-queue-tcn-load0.5", "queue 1"}) {
		t.Errorf("names %v", names)
	}
}

// Plots over time have a mark where an event begins and where it ends, each time once, in
// the unit of their axis.
func TestEventsAreMarked(t *testing.T) {
	m := resultstest.StarManifest()
	m.Events = []results.Event{{At: results.Micros(2 * time.Millisecond), For: results.Micros(time.Millisecond), What: "s1:h1 down"}, {At: results.Micros(3 * time.Millisecond), What: "h1 rtt 1ms"}}
	p, err := NewPage([]*store.Run{stored(t, m, resultstest.Everything())}, "")
	if err != nil {
		t.Fatal(err)
	}
	over := 0
	for _, f := range p.Figures() {
		unit, isTime := map[string]float64{"time (µs)": 1e3, "time (ms)": 1}[f.X.Title]
		want := []float64{2 * unit, 3 * unit}
		if !isTime {
			want = nil
		} else {
			over++
		}
		if !slices.Equal(f.Marks, want) {
			t.Errorf("%s has marks at %v, want %v", f.Name, f.Marks, want)
		}
	}
	if over == 0 {
		t.Error("no figure is over time")
	}
	var page strings.Builder
	if err := p.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "2ms: s1:h1 down") {
		t.Error("the page does not list the events")
	}
}
