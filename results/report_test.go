package results

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/results/figure"
)

func reportOf(t *testing.T, runs ...*Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := Report(&b, runs, ""); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The golden holds the page without the courses of its curves.
func TestReport(t *testing.T) {
	page := reportOf(t, stored(t, manifest(), measured()))
	golden(t, "report.html", regexp.MustCompile(` d="[^"]*"`).ReplaceAll([]byte(page), []byte(` d="..."`)))
}

// Browsers forgive, so parse it as strictly as XML.
func TestReportIsWellFormed(t *testing.T) {
	page := reportOf(t, stored(t, manifest(), measured()))
	page = regexp.MustCompile(`<meta [^>]*>`).ReplaceAllString(page, "")
	d := xml.NewDecoder(strings.NewReader(page))
	d.Entity = xml.HTMLEntity
	count := make(map[string]int)
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
	// 6 statistics against the load; per load 4 CDFs, and 3 schemes' queues and
	// goodputs.
	if want := 6 + 2*(4+3+3); count["svg"] != want || count["figure"] != want || count["script"] != 1 {
		t.Errorf("page has %v", count)
	}
}

func TestReportFetchesNothing(t *testing.T) {
	page := reportOf(t, stored(t, manifest(), measured()))
	page = strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, "") // a name
	for _, bad := range []string{"http:", "https:", "src=", "href=", "@import", "url(", "<script ", "fetch(", "import(", "NaN", "Inf", "ZgotmplZ", "%!"} {
		if strings.Contains(page, bad) {
			t.Errorf("page holds %q", bad)
		}
	}
	if !strings.Contains(page, "Model &lt;X&gt;") || strings.Contains(page, "Model <X>") {
		t.Error("text is not escaped")
	}
}

func TestReportFileIsThePage(t *testing.T) {
	run := stored(t, manifest(), measured())
	b, err := os.ReadFile(filepath.Join(run.Dir, reportFile))
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != reportOf(t, run) {
		t.Error("report.html differs from the report of the stored run")
	}
}

// Runs too poor for some of the drawings.
func TestReportOfLittle(t *testing.T) {
	failed := trace("droptail", 1, 0, 0)
	m := manifest()
	m.BaseRTT = 0
	m.BaseRTTs = []BaseRTT{{Host: "h2", Measured: RTTSpan{Mean: 2}, Lab: RTTSpan{Mean: 1}}}
	page := reportOf(t, stored(t, m, []Point{failed}))
	for _, want := range []string{"0 of 2", "not measured", "the base RTTs of 1 of 1 measurements are more than 5 % off", "2 of 2 flows of droptail at load 0.5 did not complete"} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	if strings.Contains(page, "<figure") {
		t.Error("page draws what is not there")
	}
}

// A run whose schemes cannot be compared is stored all the same.
func TestRunThatCannotBeCompared(t *testing.T) {
	run := stored(t, manifest(), []Point{trace("droptail", 1, 1, 2), trace("tcn", 1, 1, 2, 3)})
	b, err := os.ReadFile(filepath.Join(run.Dir, summaryFile))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte("schemes not compared: droptail and tcn did not replay the same trace")) {
		t.Errorf("summary does not say why: %s", b)
	}
	if err := Report(io.Discard, []*Run{run}, ""); err == nil {
		t.Error("a report on demand does not fail")
	}
}

func TestReportReportsAFailingWriter(t *testing.T) {
	if err := Report(failing{}, []*Run{stored(t, manifest(), measured()[:1])}, ""); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

func TestCDFIsThinned(t *testing.T) {
	us := make([]float64, 100_000)
	for i := range us {
		us[i] = float64(i + 1)
	}
	got := cdf(us, 1e3)
	if len(got) > 405 || got[0] != (figure.Point{X: 0.001}) || got[len(got)-1] != (figure.Point{X: 100, Y: 1}) {
		t.Errorf("%d places from %v to %v", len(got), got[0], got[len(got)-1])
	}
	if !slices.IsSortedFunc(got, func(a, b figure.Point) int { return cmp.Compare(a.Y, b.Y) }) {
		t.Error("the distribution falls")
	}
}

func TestBottleneckIsThePortThatSentMost(t *testing.T) {
	if _, ok := bottleneck(nil); ok {
		t.Error("no samples have a bottleneck")
	}
	samples := []QueueSample{
		{Switch: "s1", Port: "h1", Sent: 10, PeakBytes: 99}, {Switch: "s1", Port: "h2", Sent: 7},
		{Switch: "s1", Port: "h2", Sent: 8}, {Switch: "s2", Port: "h2", Sent: 14},
	}
	if p, ok := bottleneck(samples); !ok || p.String() != "s1 to h2" {
		t.Errorf("bottleneck is %v", p)
	}
	idle := []QueueSample{{Switch: "s", Port: "b", PeakBytes: 5}, {Switch: "s", Port: "a", PeakBytes: 5}, {Switch: "s", Port: "c", PeakBytes: 1}}
	if p, _ := bottleneck(idle); p.port != "a" {
		t.Errorf("of equal ports %s was chosen, want the first by name", p.port)
	}
}

func TestOccupancyByHand(t *testing.T) {
	ms := time.Millisecond
	samples := []QueueSample{
		{At: 0, Switch: "s", Port: "p", Queue: 0, Bytes: 1000, PeakBytes: 2000},
		{At: 0, Switch: "s", Port: "p", Queue: 1, Bytes: 3000, PeakBytes: 3500},
		{At: 0, Switch: "s", Port: "other", Bytes: 9e6, PeakBytes: 9e6},
		{At: 300 * ms, Switch: "s", Port: "p", Queue: 0, Bytes: 0, PeakBytes: 7000},
	}
	o := occupy("tcn", samples, portName{"s", "p"}, lastSample(samples))
	// Two bins of 1 ms: at the start, and the last.
	wantMean, wantPeak := []xy{{500, 4}, {299_500, 0}}, []xy{{500, 4}, {299_500, 7}}
	if !slices.Equal(o.mean, wantMean) || !slices.Equal(o.peak, wantPeak) {
		t.Errorf("mean %v, peak %v; want %v, %v", o.mean, o.peak, wantMean, wantPeak)
	}
}

func BenchmarkReport(b *testing.B) {
	root := b.TempDir()
	w, err := Create(root, manifest(), []byte(labText))
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range measured() {
		if err := w.Add(p); err != nil {
			b.Fatal(err)
		}
	}
	dir, err := w.Finish(began)
	if err != nil {
		b.Fatal(err)
	}
	run, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := Report(io.Discard, []*Run{run}, ""); err != nil {
			b.Fatal(err)
		}
	}
}
