package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

// A probe that was never answered keeps its place, without times.
func TestProbeWithoutAnswers(t *testing.T) {
	p := resultstest.Trace("droptail", 1, 10, 20)
	p.Probes = []results.ProbeSample{{Probe: "service-0", At: ms, Lost: true}}
	run := stored(t, resultstest.StarManifest(), []results.Point{p})
	got, err := run.Points()[0].Read()
	if err != nil || !reflect.DeepEqual(got.Probes, p.Probes) {
		t.Errorf("read %+v (%v)", got.Probes, err)
	}
	text := tableOf(t, compared(t, []results.Point{p}), TextOptions{})
	if !regexp.MustCompile(`(?m)^droptail +- +- +-  1 of 1$`).MatchString(text) {
		t.Errorf("table does not say that the one packet was lost:\n%s", text)
	}
	if page := reportOf(t, run); !strings.Contains(page, "<td>1</td><td>1</td><td>-</td><td>-</td><td>-</td>") {
		t.Error("report does not say that the one packet was lost")
	}
}

func TestTableOfEverything(t *testing.T) {
	text := tableOf(t, compared(t, resultstest.Everything()), TextOptions{})
	golden(t, "table-everything.txt", []byte(text))
	for line := range strings.Lines(text) {
		if n := len(strings.TrimSuffix(line, "\n")); n > tableWidth {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

// The report draws queries beside flows, and each probe.
func TestReportOfEverything(t *testing.T) {
	page := reportOf(t, stored(t, resultstest.StarManifest(), resultstest.Everything()))
	count := make(map[string]int)
	d := xml.NewDecoder(strings.NewReader(regexp.MustCompile(`<meta [^>]*>`).ReplaceAllString(page, "")))
	d.Entity = xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := token.(xml.StartElement); ok {
			count[s.Name.Local]++
		}
	}
	// 6 + 2 statistics against the load; per load 5 CDFs, a probe, 3 schemes'
	// queues, their goodputs by queue and by service, and the shares of services.
	if want := 8 + 2*(5+1+3+3+3+3); count["figure"] != want {
		t.Errorf("%d figures, want %d", count["figure"], want)
	}
	for _, want := range []string{
		"queries, p99", "normalised QCT", "QCT of queries", "share of queries", "<th>queries</th>",
		"Goodput by service", "Goodput per service over time: all hosts, seed ", "Flow control", "Round-trip times of probe service-1", "RTT of probe service-1", "<td>120</td><td>6</td>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
}

// The table tells drops by their reason and from losses on links.
func TestTableShowsLosses(t *testing.T) {
	c, err := compare.Points([]results.Point{resultstest.Lossy()}, "")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Text(&b, c, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"lost     no room    by AQM  on links    resent  flows with a timeout\n" +
		"red            5         7        11        43  2\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("got\n%s\nwithout\n%s", b.String(), want)
	}
	quiet := resultstest.Lossy()
	quiet.Ports[0].DropsScheme, quiet.Links = 0, nil
	if c, err = compare.Points([]results.Point{quiet}, ""); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := Text(&b, c, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "by AQM") {
		t.Errorf("drops for want of room alone make a second table:\n%s", b.String())
	}
}

// Runs without queries, probes and a second service say nothing of them.
func TestJSONOfQueries(t *testing.T) {
	keys := func(p results.Point) map[string]any {
		b, err := json.Marshal(compare.PointJSONOf(p))
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	plain := keys(resultstest.Trace("a", 1, 10, 20))
	for _, key := range []string{"queries", "qct_us", "services", "probes"} {
		if _, ok := plain[key]; ok {
			t.Errorf("a point without has %s", key)
		}
	}
	p := resultstest.Queried("a", 1, 100, 0)
	p.Flows[0].Service = 3
	got := keys(p)
	qct := got["qct_us"].(map[string]any)
	if got["queries"] != 2.0 || qct["count"] != 1.0 || qct["mean"] != 100.0 {
		t.Errorf("queries %v, QCT %v", got["queries"], qct)
	}
	if n := len(got["services"].([]any)); n != 2 {
		t.Errorf("%d services, want 2", n)
	}
	lost := keys(resultstest.Queried("a", 1, 0))
	if qct := lost["qct_us"].(map[string]any); qct["count"] != 0.0 || qct["mean"] != nil {
		t.Errorf("QCT %v of a query that did not complete", qct)
	}
}

func TestCompareJSON(t *testing.T) {
	c, err := compare.Points(resultstest.Measured(), "droptail")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "compare.json", append(b, '\n'))
}

func TestRunJSON(t *testing.T) {
	run := stored(t, resultstest.StarManifest(), resultstest.Measured())
	run.Dir = "DIR"
	j, err := RunJSONOf(run)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	resultstest.WantKeys(t, "run", got, "lab", "dir", "runtime", "dilation", "runs")
	golden(t, "run.json", append(b, '\n'))
}

// The names are a contract.
func TestPointJSONFields(t *testing.T) {
	b, err := json.Marshal(compare.PointJSONOf(resultstest.Measured()[0]))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	resultstest.WantKeys(t, "point", got, "scheme", "load", "seed", "flows", "completed", "fct_us", "marks", "drops", "timeouts", "drops_full", "drops_scheme", "lost_on_links", "retransmits", "goodput_gbps", "fidelity", "timed_out_flows")
	resultstest.WantKeys(t, "fidelity", got["fidelity"].(map[string]any), "label", "lateness_p99_us", "lateness_share_of_rtt", "edge_drops")
	fct := got["fct_us"].(map[string]any)
	resultstest.WantKeys(t, "fct_us", fct, "all", "small", "medium", "large")
	resultstest.WantKeys(t, "all", fct["all"].(map[string]any), "count", "mean", "p50", "p95", "p99", "p999")
}

// TestTableNamesRuns: what the numbers of schemes stand for is said once.
func TestTableNamesRuns(t *testing.T) {
	one, other := resultstest.StarManifest(), resultstest.StarManifest()
	other.Start = other.Start.Add(time.Hour)
	runs := []*store.Run{stored(t, one, []results.Point{resultstest.Trace("tcn", 1, 10, 20)}), stored(t, other, []results.Point{resultstest.Trace("tcn", 1, 10, 20)})}
	if _, err := compare.Runs(runs, ""); err == nil || !strings.Contains(err.Error(), "droptail") {
		t.Fatalf("a baseline that no run has: %v", err)
	}
	c, err := compare.Runs(runs, "tcn")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Text(&b, c, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, run := range runs {
		if line := fmt.Sprintf("@%d: run %s\n", i+1, filepath.Base(run.Dir)); strings.Count(b.String(), line) != 1 {
			t.Errorf("%q is not in\n%s", line, &b)
		}
	}
}

func BenchmarkSummarize(b *testing.B) {
	p := resultstest.Synth{Flows: 5000, Reach: 10, Sigma: 0.3}.Point("a", 1, 100, 1)
	for b.Loop() {
		compare.PointJSONOf(p)
	}
}

// A run that lost a file is neither summed up nor reported.
func TestDamagedRun(t *testing.T) {
	for _, file := range []string{"flows.parquet", "probes.parquet"} {
		run := stored(t, resultstest.StarManifest(), resultstest.Everything()[:1])
		if err := os.Remove(filepath.Join(run.Dir, "droptail-load0.5-seed1", file)); err != nil {
			t.Fatal(err)
		}
		if _, err := RunJSONOf(run); err == nil {
			t.Errorf("a run without %s was summed up", file)
		}
		if err := Write(io.Discard, []*store.Run{run}, ""); err == nil {
			t.Errorf("a run without %s was reported", file)
		}
	}
}
