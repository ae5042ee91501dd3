package report

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

	"aqmlab/results"
	"aqmlab/results/report/figure"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

func reportOf(t *testing.T, runs ...*store.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, runs, ""); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The golden holds the page without the courses of its curves.
func TestReport(t *testing.T) {
	page := reportOf(t, stored(t, resultstest.StarManifest(), resultstest.Measured()))
	golden(t, "report.html", regexp.MustCompile(` d="[^"]*"`).ReplaceAll([]byte(page), []byte(` d="..."`)))
}

// Browsers forgive, so parse it as strictly as XML.
func TestReportIsWellFormed(t *testing.T) {
	page := reportOf(t, stored(t, resultstest.StarManifest(), resultstest.Measured()))
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
	page := reportOf(t, stored(t, resultstest.StarManifest(), resultstest.Measured()))
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
	run := stored(t, resultstest.StarManifest(), resultstest.Measured())
	b, err := os.ReadFile(filepath.Join(run.Dir, store.ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != reportOf(t, run) {
		t.Error("report.html differs from the report of the stored run")
	}
}

// Runs too poor for some of the drawings.
func TestReportOfLittle(t *testing.T) {
	failed := resultstest.Trace("droptail", 1, 0, 0)
	m := resultstest.StarManifest()
	m.BaseRTT = 0
	m.BaseRTTs = []results.BaseRTT{{Host: "h2", Measured: results.RTTSpan{Mean: 2}, Lab: results.RTTSpan{Mean: 1}}}
	page := reportOf(t, stored(t, m, []results.Point{failed}))
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
	run := stored(t, resultstest.StarManifest(), []results.Point{resultstest.Trace("droptail", 1, 1, 2), resultstest.Trace("tcn", 1, 1, 2, 3)})
	b, err := os.ReadFile(filepath.Join(run.Dir, store.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte("schemes not compared: droptail and tcn did not replay the same trace")) {
		t.Errorf("summary does not say why: %s", b)
	}
	if err := Write(io.Discard, []*store.Run{run}, ""); err == nil {
		t.Error("a report on demand does not fail")
	}
}

func TestReportReportsAFailingWriter(t *testing.T) {
	if err := Write(failing{}, []*store.Run{stored(t, resultstest.StarManifest(), resultstest.Measured()[:1])}, ""); !errors.Is(err, errFull) {
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

func BenchmarkReport(b *testing.B) {
	root := b.TempDir()
	w, err := store.Create(root, resultstest.StarManifest(), []byte(resultstest.LabText), Describe)
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range resultstest.Measured() {
		if err := w.Add(p); err != nil {
			b.Fatal(err)
		}
	}
	dir, err := w.Finish(resultstest.Began())
	if err != nil {
		b.Fatal(err)
	}
	run, err := store.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := Write(io.Discard, []*store.Run{run}, ""); err != nil {
			b.Fatal(err)
		}
	}
}
