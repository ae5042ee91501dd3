package results

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestSummarizeProbes(t *testing.T) {
	got := SummarizeProbes([]ProbeSample{
		{Probe: "b", RTT: 300 * us}, {Probe: "a", Lost: true}, {Probe: "b", RTT: 100 * us}, {Probe: "b", Lost: true},
	})
	want := []ProbeSummary{
		{Probe: "b", Sent: 3, Lost: 1, RTT: FCT{Count: 2, Mean: 200, P50: 100, P95: 300, P99: 300, P999: 300}},
		{Probe: "a", Sent: 1, Lost: 1},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if SummarizeProbes(nil) != nil {
		t.Error("no samples have a summary")
	}
}

// everything are points with queries, several services and probes besides.
func everything() []Point {
	points := measured()
	for i := range points {
		p := &points[i]
		for k := range p.Flows {
			f := &p.Flows[k]
			f.Service, f.Workload = int32(k%2), int32(k%2)
			if k%2 == 1 {
				f.Query = int64(k/10) + 1
			}
		}
		for k := range 20 {
			p.Services = append(p.Services, ServiceSample{At: time.Duration(k/2+1) * ms, Over: ms, Service: int32(k % 2), Bytes: int64(1000 * (k + i + 1))})
		}
		p.Pauses = []PauseCount{{Switch: "s1", Port: "h2", Stops: int64(i) + 1, Stopped: 1500 * us, PeakBytes: 9000}}
		for k := range 60 {
			s := ProbeSample{Probe: "service-1", At: time.Duration(k) * ms, RTT: time.Duration(80+(k*7)%40*(i+1)) * us}
			if k%20 == 5 {
				s.RTT, s.Lost = 0, true
			}
			p.Probes = append(p.Probes, s)
		}
	}
	return points
}

func TestRoundTripOfEverything(t *testing.T) {
	points := everything()
	run := stored(t, manifest(), points)
	for i, s := range run.Points() {
		p, err := s.Read()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p, points[i]) {
			t.Errorf("%s came back different", pointFolder(points[i]))
		}
		if want := SummarizeProbes(p.Probes); !reflect.DeepEqual(s.Probes, want) {
			t.Errorf("point.json says %+v, want %+v", s.Probes, want)
		}
	}
	wantFiles(t, filepath.Join(run.Dir, pointFolder(points[0])), "flows.parquet", "goodput.parquet", "point.json", "probes.parquet", "series.parquet")
}

// A probe that was never answered keeps its place, without times.
func TestProbeWithoutAnswers(t *testing.T) {
	p := trace("droptail", 1, 10, 20)
	p.Probes = []ProbeSample{{Probe: "service-0", At: ms, Lost: true}}
	run := stored(t, manifest(), []Point{p})
	got, err := run.Points()[0].Read()
	if err != nil || !reflect.DeepEqual(got.Probes, p.Probes) {
		t.Errorf("read %+v (%v)", got.Probes, err)
	}
	text := tableOf(t, compared(t, []Point{p}), TableOptions{})
	if !regexp.MustCompile(`(?m)^droptail +- +- +-  1 of 1$`).MatchString(text) {
		t.Errorf("table does not say that the one packet was lost:\n%s", text)
	}
	if page := reportOf(t, run); !strings.Contains(page, "<td>1</td><td>1</td><td>-</td><td>-</td><td>-</td>") {
		t.Error("report does not say that the one packet was lost")
	}
}

func TestTableOfEverything(t *testing.T) {
	text := tableOf(t, compared(t, everything()), TableOptions{})
	golden(t, "table-everything.txt", []byte(text))
	for line := range strings.Lines(text) {
		if n := len(strings.TrimSuffix(line, "\n")); n > tableWidth {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

// The report draws queries beside flows, and each probe.
func TestReportOfEverything(t *testing.T) {
	page := reportOf(t, stored(t, manifest(), everything()))
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
	// queues, and their goodputs by queue and by service.
	if want := 8 + 2*(5+1+3+3+3); count["figure"] != want {
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

// What the damage of a probe's file is called.
func TestMissingProbes(t *testing.T) {
	points := everything()[:1]
	run := stored(t, manifest(), points)
	path := filepath.Join(run.Dir, pointFolder(points[0]), probesFile)
	if err := writeParquet(path, probeRows(points[0])[:3]); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Points()[0].Read(); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "3 rows") {
		t.Errorf("error %v does not say what is missing where", err)
	}
	var b bytes.Buffer
	if err := Report(&b, []*Run{run}, ""); err == nil {
		t.Error("a report was made of it")
	}
}
