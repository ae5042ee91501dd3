package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/coexist"
	"aqmlab/results/compare"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

// sharing is a run of two schemes with three seeds. Two services have a flow each for a
// second. Under droptail the first has three quarters, and under tcn half; what it has
// more varies by a hundredth from seed to seed.
func sharing(t *testing.T) *store.Run {
	t.Helper()
	m := results.Manifest{
		Start: resultstest.Began(), Runtime: "sim", Dilation: 1, Transport: results.Transport{Name: "dctcp", Provider: results.ProviderModel}, Lab: "star",
		Schemes: []string{"droptail", "tcn"}, Loads: []float64{0.5}, Seeds: []uint64{1, 2, 3}, Baseline: "droptail",
		Rates: []results.PortRate{{Rate: 1e6}},
	}
	var points []results.Point
	for i, scheme := range m.Schemes {
		for seed := range uint64(3) {
			p := results.Point{Coord: results.Coord{Scheme: scheme, Load: 0.5, Seed: seed + 1}, Fidelity: results.Fidelity{Label: results.FidelityExact}}
			first := []int64{750, 500}[i] + int64(seed)*10
			for service := range int32(2) {
				p.Flows = append(p.Flows, results.Flow{ID: int64(service), Start: 1, Sent: 1, FCT: time.Second, Bytes: 1e5, Received: 1e5, Service: service})
			}
			for at := 10 * ms; at <= time.Second; at += 10 * ms {
				p.Services = append(p.Services, results.ServiceSample{At: at, Over: 10 * ms, Service: 0, Bytes: first}, results.ServiceSample{At: at, Over: 10 * ms, Service: 1, Bytes: 1000 - first})
				p.Queues = append(p.Queues, results.QueueSample{At: at, Switch: "s1", Port: "h1", Sent: 1000, Packets: 1, Waited: time.Duration(1+seed) * ms})
			}
			p.Ports = []results.PortCount{{Switch: "s1", Port: "h1", Sent: 100, SentBytes: 1e5, Marked: int64(i) * 10}}
			p.Classes = []results.ClassCount{
				{Switch: "s1", Port: "h1", Sent: 50, Longest: 3 * ms, Waited: 50 * ms, Marked: int64(i) * 10},
				{Switch: "s1", Port: "h1", DSCP: 1, Sent: 50, Longest: 3 * ms, Waited: 50 * ms},
			}
			p.Delays = []results.DelayCount{
				{Switch: "s1", Port: "h1", UpTo: time.Duration(1+seed) * ms, Packets: 50}, {Switch: "s1", Port: "h1", DSCP: 1, UpTo: 2 * ms, Packets: 50},
			}
			points = append(points, p)
		}
	}
	return stored(t, m, points)
}

// TestTableOfCoexistence: the first service has 0.76 of all under droptail, with an index
// of 1 / (2 (0.76^2 + 0.24^2)) = 0.787, and 0.51 under tcn. A packet of 1000 bytes takes
// 1038 on the wire, every 10 ms, at 1 Mbps.
func TestTableOfCoexistence(t *testing.T) {
	c, err := compare.Runs([]*store.Run{sharing(t)}, "")
	if err != nil {
		t.Fatal(err)
	}
	text := tableOf(t, c, TextOptions{})
	golden(t, "table-coexistence.txt", []byte(text))
	for line := range strings.Lines(text) {
		if n := len(strings.TrimSuffix(line, "\n")); n > tableWidth {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

// TestWindowOfCoexistence: windows are of the length that is asked for, and the report of
// the run keeps its own.
func TestWindowOfCoexistence(t *testing.T) {
	run := sharing(t)
	rule := coexist.Usual()
	rule.Window = 95 * ms // and a whole number of samples
	c, err := compare.RunsBy([]*store.Run{run}, "", rule)
	if err != nil {
		t.Fatal(err)
	}
	if text := tableOf(t, c, TextOptions{}); !strings.Contains(text, "over 9 windows of 100ms") {
		t.Errorf("%s", text)
	}
	if !strings.Contains(reportOf(t, run), "Coexistence</h") {
		t.Error("the report has no table")
	}
}

// TestTableOfManyParties: of more than fit, the least and the most share.
func TestTableOfManyParties(t *testing.T) {
	c := compare.Comparison{Schemes: []string{"tcn"}}
	j := compare.Judged{Scheme: "tcn"}
	for i := range 9 {
		name := strings.Repeat("x", i+1)
		j.First.Parties = append(j.First.Parties, name)
		c.Coexistence = append(c.Coexistence, compare.CoexistenceRow{Scheme: "tcn", Measure: coexist.Share, Of: name, Value: float64(i) / 36})
	}
	c.Judged = append(c.Judged, j)
	got := partyShares(c, 0)
	if !slices.Equal(got.Head, []string{"share of", "least", "most of 9"}) || len(got.Rows) != 1 || !slices.Equal(got.Rows[0], []string{"tcn", "0%", "22.2%"}) {
		t.Errorf("%+v", got)
	}
}

// TestReportOfCoexistence: the page has the tables, a dot a scheme for the mean and one
// for the p99, and the shares over time; the summary has the judgement of each point.
func TestReportOfCoexistence(t *testing.T) {
	run := sharing(t)
	p, err := NewPage([]*store.Run{run}, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range p.Figures() {
		names = append(names, f.Name)
	}
	for _, want := range []string{"utilisation-load0.5", "delay-utilisation-average-load0.5", "delay-utilisation-p99-load0.5", "share-droptail-load0.5", "share-tcn-load0.5"} {
		if !slices.Contains(names, want) {
			t.Errorf("no figure %s among %v", want, names)
		}
	}
	page := reportOf(t, run)
	for _, want := range []string{
		"Coexistence</h", "Parties</h", "Waiting at the bottleneck</h", "<td>droptail</td><td>service 0</td><td>76.0%</td><td>73.5% to 78.5%</td>",
		"<td>tcn</td><td>queue 0, DSCP 1</td><td>1000.0us ~</td><td>2000.0us ~</td>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %s", want)
		}
	}
	b, err := os.ReadFile(filepath.Join(run.Dir, store.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Runs []struct {
			Coexistence coexist.Judgement `json:"coexistence"`
		} `json:"runs"`
		Comparison struct {
			Coexistence []compare.CoexistenceRow `json:"coexistence"`
		} `json:"comparison"`
	}
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	if v, ok := s.Runs[0].Coexistence.Of(coexist.Share, "service 0"); !ok || v != 0.75 || len(s.Comparison.Coexistence) == 0 {
		t.Errorf("summary: %v, %v, %d rows", v, ok, len(s.Comparison.Coexistence))
	}
}

// TestExportOfCoexistence: a row for each value of a point.
func TestExportOfCoexistence(t *testing.T) {
	run := sharing(t)
	var b bytes.Buffer
	if err := Export(&b, run, CoexistenceTable, CSV); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if !strings.HasPrefix(text, "scheme,load,seed,measure,of,value,unit\n") || !regexp.MustCompile(`(?m)^droptail,0\.5,1,share,service 0,0\.75,$`).MatchString(text) {
		t.Errorf("%s", text)
	}
	if !regexp.MustCompile(`(?m)^tcn,0\.5,3,delay\.p99,,3000,us$`).MatchString(text) {
		t.Errorf("no p99 in %s", text)
	}
}

// TestCoexistenceOfADamagedPoint: samples that cannot be read are a warning, and all else
// is compared.
func TestCoexistenceOfADamagedPoint(t *testing.T) {
	run := sharing(t)
	path := filepath.Join(run.Dir, "tcn-load0.5-seed2", "goodput.parquet")
	if err := os.WriteFile(path, []byte("PAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := compare.Runs([]*store.Run{run}, "")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(c.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "how parties share tcn at load 0.5, seed 2 of run ") && strings.Contains(w, "goodput.parquet")
	}) {
		t.Errorf("warnings %q", c.Warnings)
	}
	if r, ok := c.CoexistenceRow("tcn", 0.5, coexist.Jain, ""); !ok || r.Count != 2 {
		t.Errorf("%+v, %v", r, ok)
	}
	var b bytes.Buffer
	if err := Export(&b, run, CoexistenceTable, CSV); err == nil || !strings.Contains(err.Error(), "goodput.parquet") {
		t.Errorf("exported with %v", err)
	}
}
