package results

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const us, ms = time.Microsecond, time.Millisecond

// part is a flow of a query; one that takes no time did not complete.
func part(id, query int64, sent, fct time.Duration) Flow {
	f := flowOf(id, 1000, sent, fct)
	f.Query = query
	if fct == 0 {
		f.Received, f.Error = 0, "lost"
	}
	return f
}

func TestQueriesByHand(t *testing.T) {
	late := part(4, 3, 41*ms, 2*ms)
	late.Start = 39 * ms // planned before the other, and sent after
	flows := []Flow{
		part(0, 1, 10*ms, 5*ms),
		part(1, 0, 10*ms, 99*ms), // of none
		part(2, 1, 12*ms, 7*ms),  // ends last, at 19 ms
		part(3, 1, 11*ms, 2*ms),
		late,
		part(5, 3, 40*ms, ms),
		part(6, 2, 50*ms, ms),
		part(7, 2, 50*ms, 0),
	}
	want := []Query{
		{ID: 1, Start: 10 * ms, Sent: 10 * ms, QCT: 9 * ms, Bytes: 3000, Flows: 3, Complete: true},
		{ID: 3, Start: 39 * ms, Sent: 40 * ms, QCT: 3 * ms, Bytes: 2000, Flows: 2, Complete: true},
		{ID: 2, Start: 50 * ms, Sent: 50 * ms, Bytes: 2000, Flows: 2},
	}
	got := QueriesOf(flows)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s := SummarizeQueries(got); s.Count != 2 || s.Mean != 6000 || s.P99 != 9000 {
		t.Errorf("summary %+v, want a mean of 6000 us over two", s)
	}
}

// queried is a point of queries of two flows, the second of which takes what is
// given in microseconds; a zero does not complete.
func queried(scheme string, seed uint64, last ...int) Point {
	p := Point{Scheme: scheme, Load: 0.5, Seed: seed, Fidelity: Fidelity{Label: FidelityExact}}
	for i, n := range last {
		at := time.Duration(i+1) * ms
		p.Flows = append(p.Flows,
			part(int64(2*i), int64(i+1), at, us),
			part(int64(2*i+1), int64(i+1), at, time.Duration(n)*us))
	}
	return p
}

func TestCompareQueriesByHand(t *testing.T) {
	c := compared(t, []Point{queried("a", 1, 100, 200, 300, 900), queried("b", 1, 50, 100, 150, 0)})
	for _, want := range []Row{
		{Scheme: "a", Class: Queries, Metric: Mean, Value: 375, Normalized: 1},
		{Scheme: "a", Class: Queries, Metric: P99, Value: 900, Normalized: 1},
		// Paired on the three that completed under both: 100 against 200.
		{Scheme: "b", Class: Queries, Metric: Mean, Value: 100, Normalized: 0.5, Difference: -50},
		{Scheme: "b", Class: Queries, Metric: P99, Value: 150, Normalized: 0.5, Difference: -50},
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
	points := []Point{queried("a", 1, base...), queried("slow", 1, slow...), queried("same", 1, same...)}
	for i := range points[1].Flows {
		if i%2 == 0 {
			points[1].Flows[i].FCT /= 2 // faster, and of no use
		}
	}
	c := compared(t, points)
	for scheme, want := range map[string]Verdict{"slow": Worse, "same": NoDifference} {
		for _, m := range []Metric{Mean, P99} {
			r, ok := c.Row(scheme, 0.5, Queries, m)
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
	old := queried("old", 1, 100, 200)
	for i := range old.Flows {
		old.Flows[i].Query = 0
	}
	c := compared(t, []Point{queried("a", 1, 100, 200), old})
	if _, ok := c.Row("old", 0.5, Queries, Mean); ok {
		t.Error("flows of no query have a row of queries")
	}
	if _, ok := c.Row("old", 0.5, All, Mean); !ok {
		t.Error("flows are not compared")
	}
	other := queried("b", 1, 100, 200)
	other.Flows[3].Query = 9
	if _, err := Compare([]Point{queried("a", 1, 100, 200), other}, ""); err == nil || !strings.Contains(err.Error(), "flow 3 is of query 2 in one and 9 in the other") {
		t.Errorf("other queries: %v", err)
	}
}

// Runs without queries, probes and a second service say nothing of them.
func TestJSONOfQueries(t *testing.T) {
	keys := func(p Point) map[string]any {
		b, err := json.Marshal(JSONOf(p))
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	plain := keys(trace("a", 1, 10, 20))
	for _, key := range []string{"queries", "qct_us", "services", "probes"} {
		if _, ok := plain[key]; ok {
			t.Errorf("a point without has %s", key)
		}
	}
	p := queried("a", 1, 100, 0)
	p.Flows[0].Service = 3
	got := keys(p)
	qct := got["qct_us"].(map[string]any)
	if got["queries"] != 2.0 || qct["count"] != 1.0 || qct["mean"] != 100.0 {
		t.Errorf("queries %v, QCT %v", got["queries"], qct)
	}
	if n := len(got["services"].([]any)); n != 2 {
		t.Errorf("%d services, want 2", n)
	}
	lost := keys(queried("a", 1, 0))
	if qct := lost["qct_us"].(map[string]any); qct["count"] != 0.0 || qct["mean"] != nil {
		t.Errorf("QCT %v of a query that did not complete", qct)
	}
}

func TestGoodputByService(t *testing.T) {
	a, b := flowOf(0, 1000, 0, us), flowOf(1, 5000, ms, 10*us)
	b.Service = 2
	got := GoodputByService([]Flow{a, b})
	// 8000 bits in 1 us, and 40000 in 10 us.
	if want := []ServiceGoodput{{0, 8}, {2, 4}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := meanGoodput([]Point{{Flows: []Flow{a, b}}, {Flows: []Flow{a}}}); !reflect.DeepEqual(got, []ServiceGoodput{{0, 8}, {2, 2}}) {
		t.Errorf("mean %v, want 8 and 2", got)
	}
}

// oldFlowRow is a row of flows.parquet as it was before queries were recorded.
type oldFlowRow struct {
	Scheme    string  `parquet:"scheme,dict,zstd"`
	Load      float64 `parquet:"load,dict,zstd"`
	Seed      uint64  `parquet:"seed,dict,zstd"`
	ID        int64   `parquet:"flow_id,delta,zstd"`
	Start     int64   `parquet:"start_ns,delta,zstd"`
	Sent      int64   `parquet:"sent_ns,delta,zstd"`
	FCT       *int64  `parquet:"fct_ns,optional,zstd"`
	Bytes     int64   `parquet:"bytes,zstd"`
	Received  int64   `parquet:"received_bytes,zstd"`
	Client    int32   `parquet:"client,zstd"`
	Server    int32   `parquet:"server,zstd"`
	Service   int32   `parquet:"service,zstd"`
	Completed bool    `parquet:"completed,zstd"`
	Error     string  `parquet:"error,dict,zstd"`
}

// Runs of older versions still open, and their flows are of no query.
func TestOldFlowsStillOpen(t *testing.T) {
	p := trace("droptail", 1, 10, 0, 30)
	run := stored(t, manifest(), []Point{p})
	path := filepath.Join(run.Dir, pointFolder(p), flowsFile)
	var rows []oldFlowRow
	for _, r := range flowRows(p) {
		rows = append(rows, oldFlowRow{
			r.Scheme, r.Load, r.Seed, r.ID, r.Start, r.Sent, r.FCT, r.Bytes, r.Received,
			r.Client, r.Server, r.Service, r.Completed, r.Error,
		})
	}
	if err := writeParquet(path, rows); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, run.Dir).Points()[0].ReadFlows()
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Flows { // nor is it known what was sent again for them
		p.Flows[i].Retransmits, p.Flows[i].Timeouts = Unknown, Unknown
	}
	if !reflect.DeepEqual(got.Flows, p.Flows) {
		t.Errorf("read %+v, want %+v", got.Flows, p.Flows)
	}
}
