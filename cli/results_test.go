package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report"
	"aqmlab/results/store"
)

// stored writes a run of two schemes on the same five flows, of which tcn
// completes each in half of the time, and returns its folder.
func stored(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	w, err := store.Create(root, results.Manifest{
		Start: time.Unix(1e9, 0), Lab: "x", Runtime: "netns", Dilation: 1, Schemes: []string{"droptail", "tcn"},
		Loads: []float64{0.5}, Seeds: []uint64{1}, Baseline: "droptail", Transport: results.Transport{Name: "dctcp", Provider: "kernel"},
	}, []byte("name: x\n"), report.Describe)
	if err != nil {
		t.Fatal(err)
	}
	for scheme, fct := range map[string]time.Duration{"droptail": 2 * time.Millisecond, "tcn": time.Millisecond} {
		p := results.Point{Coord: results.Coord{Scheme: scheme, Load: 0.5, Seed: 1}, Fidelity: results.Fidelity{Label: results.FidelityOK}}
		for i := range 5 {
			p.Flows = append(p.Flows, results.Flow{ID: int64(i), Start: time.Duration(i + 1), Sent: time.Duration(i + 1), FCT: fct, Bytes: 1000, Received: 1000, Server: 1})
		}
		if err := w.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := w.Finish(time.Unix(1e9+60, 0))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// meanOf finds the mean over all flows of a scheme.
func meanOf(t *testing.T, c compare.Comparison, scheme string) compare.Row {
	t.Helper()
	for _, r := range c.Rows {
		if r.Scheme == scheme && r.Class == results.All && r.Metric == compare.Mean {
			return r
		}
	}
	t.Fatalf("no mean of %s in %+v", scheme, c)
	return compare.Row{}
}

func TestCompare(t *testing.T) {
	dir := stored(t)
	text, _ := run(t, 0, "compare", dir)
	if !strings.Contains(text, "droptail") || !strings.Contains(text, "tcn") || strings.Contains(text, "\x1b[") {
		t.Errorf("table, which is for no terminal:\n%s", text)
	}
	raw, _ := run(t, 0, "compare", dir, "--json")
	var c compare.Comparison
	if err := json.Unmarshal([]byte(raw), &c); err != nil {
		t.Fatal(err)
	}
	if r := meanOf(t, c, "tcn"); c.Baseline != "droptail" || r.Difference != -50 {
		t.Errorf("baseline %s, row %+v: want tcn 50 %% below droptail", c.Baseline, r)
	}
	raw, _ = run(t, 0, "compare", dir, "--json", "--baseline", "tcn")
	if err := json.Unmarshal([]byte(raw), &c); err != nil {
		t.Fatal(err)
	}
	if r := meanOf(t, c, "droptail"); c.Baseline != "tcn" || r.Difference != 100 {
		t.Errorf("baseline %s, row %+v: want droptail 100 %% above tcn", c.Baseline, r)
	}
	if out, errs := run(t, exitUsage, "compare", dir, "--baseline", "red"); out != "" || !strings.Contains(errs, "red") {
		t.Errorf("an unknown baseline: %q, %q", out, errs)
	}
}

func TestReport(t *testing.T) {
	dir, page := stored(t), filepath.Join(t.TempDir(), "page.html")
	out, errs := run(t, 0, "report", dir, "--out", page)
	if out != "" || !strings.Contains(errs, page) {
		t.Errorf("printed %q, said %q", out, errs)
	}
	html, err := os.ReadFile(page)
	if err != nil || !bytes.Contains(html, []byte("<html")) || !bytes.Contains(html, []byte("tcn")) {
		t.Errorf("%d bytes of a page, %v", len(html), err)
	}
	plots := filepath.Join(t.TempDir(), "plots")
	if _, errs := run(t, 0, "report", dir, "--out", page, "--plots", plots); !strings.Contains(errs, plots) {
		t.Errorf("said %q", errs)
	}
	for _, kind := range []string{"*.svg", "*.pdf"} {
		if files, err := filepath.Glob(filepath.Join(plots, kind)); err != nil || len(files) == 0 {
			t.Errorf("%d files %s, %v", len(files), kind, err)
		}
	}
	// A page that cannot be written is a failure, not the user's usage.
	run(t, exitFailed, "report", dir, "--out", filepath.Join(t.TempDir(), "no", "such", "folder.html"))
}

// TestShow: a run ends with its table and its folder, or with JSON alone.
func TestShow(t *testing.T) {
	r, err := store.Open(stored(t))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := &cobra.Command{}
	c.SetOut(&out)
	if err := show(c, r, false); err != nil || !strings.Contains(out.String(), "tcn") || !strings.Contains(out.String(), "Stored in "+r.Dir) {
		t.Errorf("%v, shown:\n%s", err, &out)
	}
	out.Reset()
	if err := show(c, r, true); err != nil {
		t.Fatal(err)
	}
	j := decode[report.RunJSON](t, out.String())
	if j.Lab != "x" || j.Dir != r.Dir || j.Runtime != "netns" || len(j.Runs) != 2 || j.Runs[0].Completed != 5 {
		t.Errorf("printed %+v", j)
	}
}

// Runs of different flows, which are not compared with each other, stand side by
// side with --each.
func TestCompareEach(t *testing.T) {
	dir := stored(t)
	text, _ := run(t, 0, "compare", "--each", dir, dir)
	if !strings.Contains(text, "x0.50") || strings.Count(text, ", against droptail") != 2 {
		t.Errorf("table:\n%s", text)
	}
	raw, _ := run(t, 0, "compare", "--each", dir, dir, "--json")
	var all []compare.RunComparison
	if err := json.Unmarshal([]byte(raw), &all); err != nil || len(all) != 2 || all[1].Lab != "x" || len(all[1].Rows) == 0 {
		t.Errorf("%v: %s", err, raw)
	}
	if out, errs := run(t, exitUsage, "compare", "--each", dir, "--baseline", "red"); out != "" || !strings.Contains(errs, "red") {
		t.Errorf("an unknown baseline: %q, %q", out, errs)
	}
}
