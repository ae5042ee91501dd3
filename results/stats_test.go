package results

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"
)

func TestClassBounds(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		want  Class
	}{
		{1, Small}, {100_000, Small}, {100_001, Medium}, {10_000_000, Medium}, {10_000_001, Large},
	} {
		if got := ClassOf(c.bytes); got != c.want {
			t.Errorf("ClassOf(%d) = %s, want %s", c.bytes, got, c.want)
		}
		for _, class := range Classes() {
			if want := class == All || class == c.want; class.Holds(c.bytes) != want {
				t.Errorf("%s.Holds(%d) = %v", class, c.bytes, !want)
			}
		}
	}
}

// The values are those of the definition: rank ceil(p n).
func TestPercentileIsNearestRank(t *testing.T) {
	upTo := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(i + 1)
		}
		return v
	}
	for _, c := range []struct {
		n    int
		p    float64
		want float64
	}{
		{1, 0.5, 1}, {1, 0.999, 1}, {2, 0.5, 1}, {3, 0.5, 2}, {4, 0.5, 2}, {5, 0.5, 3},
		{20, 0.95, 19}, {100, 0.95, 95}, {100, 0.99, 99}, {101, 0.99, 100},
		{99, 0.99, 99}, {1000, 0.999, 999}, {1001, 0.999, 1000}, {10, 1, 10},
	} {
		if got := Percentile(upTo(c.n), c.p); got != c.want {
			t.Errorf("p%g of 1..%d = %g, want %g", c.p*100, c.n, got, c.want)
		}
	}
	if got := Percentile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("percentile of nothing = %g, want NaN", got)
	}
}

func TestSummarizeByHand(t *testing.T) {
	flows := []Flow{
		flowOf(0, 100_000, 0, 30*time.Microsecond),
		flowOf(1, 1_000, 0, 10*time.Microsecond),
		flowOf(2, 50_000, 0, 80*time.Microsecond),
		flowOf(3, 20_000_000, 0, 20*time.Millisecond),
		{ID: 4, Bytes: 1_000, Received: 500, Error: "timed out"},
		{ID: 5, Bytes: 1_000, Received: 500}, // short without an error is not complete either
	}
	want := map[Class]FCT{
		Small:  {Count: 3, Mean: 40, P50: 30, P95: 80, P99: 80, P999: 80},
		Medium: {},
		Large:  {Count: 1, Mean: 20000, P50: 20000, P95: 20000, P99: 20000, P999: 20000},
		All:    {Count: 4, Mean: 5030, P50: 30, P95: 20000, P99: 20000, P999: 20000},
	}
	for c, w := range want {
		if got := Summarize(flows, c); got != w {
			t.Errorf("%s: got %+v, want %+v", c, got, w)
		}
	}
}

func TestNoFlowsHaveNoFCT(t *testing.T) {
	b, err := json.Marshal(FCT{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(b), `{"count":0,"mean":null,"p50":null,"p95":null,"p99":null,"p999":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var back FCT
	if err := json.Unmarshal(b, &back); err != nil || back != (FCT{}) {
		t.Errorf("read back %+v, %v", back, err)
	}
}

func TestGoodput(t *testing.T) {
	us := time.Microsecond
	for _, c := range []struct {
		name  string
		flows []Flow
		want  float64
	}{
		{"none", nil, 0},
		{"one at 10 Gbps", []Flow{flowOf(0, 12_500, 5*us, 10*us)}, 10},
		{"idle time counts", []Flow{flowOf(0, 12_500, 0, 10*us), flowOf(1, 12_500, 90*us, 10*us)}, 2},
		{"overlap counts once", []Flow{flowOf(0, 12_500, 0, 20*us), flowOf(1, 12_500, 0, 20*us)}, 10},
		{"incomplete left out", []Flow{flowOf(0, 12_500, 0, 10*us), {Bytes: 100, Received: 50, Sent: time.Hour, Error: "lost"}}, 10},
	} {
		if got := Goodput(c.flows); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %g Gbps, want %g", c.name, got, c.want)
		}
	}
}

func TestCountsAddPortsAndHosts(t *testing.T) {
	got := CountsOf(Point{Counters: Counters{
		Ports:  []PortCount{{Marked: 3, DropsFull: 1, DropsScheme: 2}, {Marked: 4, DropsFull: 5}},
		Links:  []LinkCount{{Lost: 9}, {Lost: 1}},
		Pauses: []PauseCount{{Stops: 3, Stopped: 20 * us}, {Stops: 1, Stopped: 5 * us}, {PeakBytes: 1500}},
		Hosts:  []HostCount{{Timeouts: 6, Retransmits: 100}, {Timeouts: 1}},
	}})
	want := Counts{Marks: 7, Drops: 8, Timeouts: 7, DropsFull: 6, DropsScheme: 2, LinkLosses: 10, Retransmits: 100, Pauses: 4, Paused: 25 * us}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Flows that did not complete have no FCT that a timeout could explain.
func TestTimedOutCountsCompletedFlows(t *testing.T) {
	met := func(bytes, timeouts int64) Flow {
		return Flow{Bytes: bytes, Received: bytes, FCT: time.Millisecond, Timeouts: timeouts}
	}
	flows := []Flow{met(1000, 1), met(2000, 0), met(20_000_000, 2), {Bytes: 3000, Timeouts: 9, Error: "not finished"}}
	want := map[Class]int{All: 2, Small: 1, Medium: 0, Large: 1}
	if got := TimedOut(flows); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	flows[1].Timeouts = Unknown
	if got := TimedOut(flows); got != nil {
		t.Errorf("got %v where one flow was not counted", got)
	}
	if got := TimedOut(nil); got != nil {
		t.Errorf("got %v of no flows", got)
	}
}

// flowOf is a completed flow.
func flowOf(id int64, bytes int64, start, fct time.Duration) Flow {
	return Flow{ID: id, Start: start, Sent: start, FCT: fct, Bytes: bytes, Received: bytes, Client: 0, Server: 1}
}

const us, ms = time.Microsecond, time.Millisecond
