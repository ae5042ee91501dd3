package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

// verdictOf compares two points and returns one row.
func verdictOf(t *testing.T, s Statistic, points ...results.Point) Row {
	t.Helper()
	c, err := Points(points, points[0].Scheme)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := c.Row(points[len(points)-1].Scheme, 0.9, s.Class, s.Metric)
	if !ok {
		t.Fatalf("no row for %v", s)
	}
	return r
}

// Without a true difference, the 95 % intervals should leave out zero in 5 %
// of the cases; 200 cases put a sound method between 1 and 9 %, and here the
// noise reaches over neighbouring flows.
func TestNullIsRejectedInFivePercent(t *testing.T) {
	const cases = 200
	s := resultstest.Synth{Flows: 400, Reach: 3, Sigma: 0.4}
	rejected := make(map[Statistic]int)
	for i := range uint64(cases) {
		c, err := Points([]results.Point{s.Point("a", i+1, 100, 1), s.Point("b", i+1, 200, 1)}, "a")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.Rows {
			if r.Verdict != NoDifference {
				rejected[Statistic{r.Class, r.Metric}]++
			}
		}
	}
	for _, st := range Statistics() {
		t.Logf("%v: %d of %d", st, rejected[st], cases)
		if n := rejected[st]; n > cases*9/100 {
			t.Errorf("%v: %d of %d cases without a difference show one", st, n, cases)
		}
	}
	if n := rejected[Statistic{results.All, Mean}]; n < cases/100 {
		t.Errorf("the mean of all differs in %d of %d cases: intervals are too wide", n, cases)
	}
}

func TestClearDifferenceIsFound(t *testing.T) {
	s := resultstest.Synth{Flows: 2000, Reach: 10, Sigma: 0.3}
	for _, c := range []struct {
		slow float64
		want Verdict
	}{{0.6, Better}, {1.5, Worse}} {
		for _, m := range []Metric{Mean, P99} {
			r := verdictOf(t, Statistic{results.Small, m}, s.Point("a", 1, 100, 1), s.Point("b", 1, 200, c.slow))
			if r.Verdict != c.want || r.CI95[0] > (c.slow-1)*100 || r.CI95[1] < (c.slow-1)*100 {
				t.Errorf("true difference %g %%, %s: %s, interval %v", (c.slow-1)*100, m, r.Verdict, r.CI95)
			}
		}
		if r := verdictOf(t, Statistic{results.Large, Mean}, s.Point("a", 1, 100, 1), s.Point("b", 1, 200, c.slow)); r.Verdict != NoDifference {
			t.Errorf("large flows did not change, but are %s, interval %v", r.Verdict, r.CI95)
		}
	}
}

// A factor that all flows share leaves no doubt once flows are paired, however
// much flows differ among themselves.
func TestPairingCancelsWhatFlowsShare(t *testing.T) {
	s := resultstest.Synth{Flows: 300, Reach: 10, Sigma: 1}
	base := s.Point("a", 1, 100, 1)
	other := s.Point("b", 1, 100, 1)
	for i := range other.Flows {
		other.Flows[i].FCT = base.Flows[i].FCT * 101 / 100
	}
	r := verdictOf(t, Statistic{results.All, Mean}, base, other)
	if r.Verdict != Worse || math.Abs(r.CI95[0]-1) > 0.01 || math.Abs(r.CI95[1]-1) > 0.01 {
		t.Errorf("1 %% on every flow: %s, interval %v", r.Verdict, r.CI95)
	}
}

func TestComparisonIsDeterministic(t *testing.T) {
	a, err := Points(resultstest.Measured(), "droptail")
	if err != nil {
		t.Fatal(err)
	}
	shuffled := resultstest.Measured()
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) {
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	})
	b, err := Points(shuffled, "droptail")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range a.Rows {
		if s, _ := b.Row(r.Scheme, r.Load, r.Class, r.Metric); s != r {
			t.Errorf("the order of points matters: %+v and %+v", r, s)
		}
	}
}

// What differs from seed to seed widens the interval: one seed says worse, the
// other better, and together they say nothing.
func TestSeedsAreResampled(t *testing.T) {
	s := resultstest.Synth{Flows: 500, Reach: 3, Sigma: 0.1}
	points := []results.Point{
		s.Point("a", 1, 100, 1), s.Point("a", 2, 100, 1),
		s.Point("b", 1, 200, 1.5), s.Point("b", 2, 200, 0.6),
	}
	r := verdictOf(t, Statistic{results.Small, Mean}, points...)
	if r.Verdict != NoDifference || r.CI95[0] > -35 || r.CI95[1] < 45 {
		t.Errorf("seeds at +50 %% and -40 %%: %s, interval %v", r.Verdict, r.CI95)
	}
}

func TestFewFlowsHaveNoVerdict(t *testing.T) {
	for _, c := range []struct {
		large int
		want  Verdict
	}{{minPairs - 1, NoDifference}, {minPairs, Better}} {
		a, b := results.Point{Coord: results.Coord{Scheme: "a", Load: 0.9}}, results.Point{Coord: results.Coord{Scheme: "b", Load: 0.9}}
		for i := range int64(c.large) {
			a.Flows = append(a.Flows, resultstest.FlowOf(i, 20e6, time.Duration(i), 2*time.Millisecond))
			b.Flows = append(b.Flows, resultstest.FlowOf(i, 20e6, time.Duration(i), time.Millisecond))
		}
		if r := verdictOf(t, Statistic{results.Large, Mean}, a, b); r.Verdict != c.want || r.Normalized != 0.5 {
			t.Errorf("%d flows, each twice as fast: %s, x%g", c.large, r.Verdict, r.Normalized)
		}
	}
}

// 97.5 % quantiles of Student's t from tables: 2.571 at 5 degrees of freedom,
// 2.228 at 10, 2.042 at 30.
func TestTailShare(t *testing.T) {
	for _, c := range []struct{ blocks, quantile float64 }{{6, 2.571}, {11, 2.228}, {31, 2.042}, {1e9, 1.960}} {
		want := math.Erfc(c.quantile*math.Sqrt(c.blocks/(c.blocks-1))/math.Sqrt2) / 2
		if got := tailShare(c.blocks); math.Abs(got-want) > 0.0003 {
			t.Errorf("%g blocks: %.5f, want %.5f", c.blocks, got, want)
		}
	}
	for m := 1.0; m < 100; m++ {
		if s := tailShare(m); s <= 0 || s > 0.025 || s > tailShare(m+1) {
			t.Errorf("%g blocks: share %g is not in (0, 2.5 %%] or falls", m, s)
		}
	}
}

func TestIntervalByHand(t *testing.T) {
	v := make([]float64, 2000)
	for i := range v {
		v[i] = float64(i + 1)
	}
	if got, want := interval(v, 1e12), ([2]float64{50, 1951}); got != want {
		t.Errorf("middle 95 %% of 1..2000 = %v, want %v", got, want)
	}
	if got := interval([]float64{7}, 35); got != [2]float64{7, 7} {
		t.Errorf("interval of one value = %v", got)
	}
}

// Every resample has as many flows as the trace, and over many resamples each
// flow is drawn as often as any other.
func TestDrawIsFair(t *testing.T) {
	p := &pairs{traces: []int{50, 30}}
	rng, total := rand.New(rand.NewPCG(5, 6)), make([]float64, 80)
	const draws = 4000
	for range draws {
		for _, d := range p.draw(rng) {
			for i := d.from; i < d.to; i++ {
				total[i]++
			}
		}
	}
	for i, w := range total {
		if math.Abs(w/draws-1) > 0.15 {
			t.Errorf("flow %d was drawn %.2f times a resample, want about 1", i, w/draws)
		}
	}
	sum := 0
	for _, d := range drawBlocks(rng, nil, stretch{30, 80}) {
		sum += d.to - d.from
		if d.from < 30 || d.to > 80 || d.from >= d.to {
			t.Errorf("the stretch %v is not in the trace", d)
		}
	}
	if sum != 50 {
		t.Errorf("a resample of 50 flows has %d", sum)
	}
}

// The short cut through the tail agrees with sorting the resample, however
// uneven that is.
func TestP99OfResamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		n := 1 + rng.IntN(2000)
		var flows []ranked
		us := make(map[int]float64)
		for at := range n {
			if rng.IntN(3) > 0 { // others are of another class, or did not complete
				flows = append(flows, ranked{at, time.Duration(rng.IntN(500)) * time.Microsecond})
				us[at] = results.Microseconds(flows[len(flows)-1].fct)
			}
		}
		t99 := newTail(flows, n)
		for range 20 {
			var drawn []stretch
			var sample []float64
			for range 1 + rng.IntN(5) {
				from := rng.IntN(n)
				d := stretch{from, from + 1 + rng.IntN(n-from)}
				drawn = append(drawn, d)
				for at := d.from; at < d.to; at++ {
					if v, ok := us[at]; ok {
						sample = append(sample, v)
					}
				}
			}
			want := 0.0
			if len(sample) > 0 {
				slices.Sort(sample)
				want = results.Percentile(sample, 0.99)
			}
			if got := t99.p99(drawn, int64(len(sample))); got != want {
				t.Fatalf("p99 of %d drawn = %g, want %g", len(sample), got, want)
			}
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	s := resultstest.Synth{Flows: 5000, Reach: 10, Sigma: 0.3}
	var points []results.Point
	for i, scheme := range []string{"a", "b", "c", "d", "e"} {
		points = append(points, s.Point(scheme, 1, uint64(100+i), 1))
	}
	for b.Loop() {
		if _, err := Points(points, "a"); err != nil {
			b.Fatal(err)
		}
	}
}
