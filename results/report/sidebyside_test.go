package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/coexist"
	"aqmlab/results/compare"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

// steadily is a point of so many small flows that take the same.
func steadily(scheme string, flows int, fct time.Duration) results.Point {
	p := results.Point{Coord: results.Coord{Scheme: scheme, Load: 0.9, Seed: 1}, Fidelity: results.Fidelity{Label: results.FidelityExact}}
	for i := range flows {
		at := time.Duration(i) * time.Millisecond
		p.Flows = append(p.Flows, results.Flow{ID: int64(i), Start: at, Sent: at, FCT: fct, Bytes: 1000, Received: 1000, Server: 1})
	}
	return p
}

// besides stores runs of schemes a and b, of n flows and more in each. b takes
// half of the time in the first run, and twice the time in the others.
func besides(t *testing.T, n int) []*store.Run {
	t.Helper()
	var runs []*store.Run
	for i := range n {
		m := resultstest.StarManifest()
		m.Lab, m.Schemes, m.Loads, m.Seeds, m.Baseline = fmt.Sprintf("lab-%d", i+1), []string{"a", "b"}, []float64{0.9}, []uint64{1}, "a"
		slow := 8 * time.Millisecond
		if i == 0 {
			slow = 2 * time.Millisecond
		}
		runs = append(runs, stored(t, m, []results.Point{steadily("a", 20+i, 4*time.Millisecond), steadily("b", 20+i, slow)}))
	}
	return runs
}

// Runs of different flows stand side by side, each compared by itself.
func TestCompareEach(t *testing.T) {
	runs := besides(t, 2)
	if _, err := compare.Runs(runs, ""); err == nil {
		t.Error("runs of different flows were compared with each other")
	}
	all, err := compare.Each(runs, "", coexist.Usual())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{-50, 100} {
		r, ok := all[i].Row("b", 0.9, results.Small, compare.Mean)
		if !ok || r.Difference != want || all[i].Lab != runs[i].Manifest.Lab || all[i].Baseline != "a" {
			t.Errorf("run %d: %+v of %s, want %v %%", i+1, r, all[i].Lab, want)
		}
	}
	if _, err := compare.Each(runs, "c", coexist.Usual()); err == nil {
		t.Error("an unknown baseline was taken")
	}
}

// Each statistic has a table with a column a run, and a star at its best. What no
// run has is left out, and warnings stand once for each run.
func TestEachTable(t *testing.T) {
	all, err := compare.Each(besides(t, 2), "", coexist.Usual())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := EachText(&b, all); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		" 1  lab-1, load 0.9: 20 flows a scheme, seed 1, against a\n",
		" 2  lab-2, load 0.9: 21 flows a scheme, seed 1, against a\n",
		"small avg         1         2\n" +
			"a          4000.0us *4000.0us\n" +
			"b          *x0.50 +   x2.00 -\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "large avg") || strings.Contains(text, "query avg") {
		t.Errorf("tables of what there is not:\n%s", text)
	}
	if n := strings.Count(text, "a single seed"); n != 2 {
		t.Errorf("%d warnings of a single seed, want one a run:\n%s", n, text)
	}
}

// What does not fit beside each other goes below.
func TestEachTableFits(t *testing.T) {
	all, err := compare.Each(besides(t, 10), "", coexist.Usual())
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		for k := range all[i].Schemes {
			name := all[i].Schemes[k] + "-with-a-long-name-that-nobody-types"
			for r := range all[i].Rows {
				if all[i].Rows[r].Scheme == all[i].Schemes[k] {
					all[i].Rows[r].Scheme = name
				}
			}
			all[i].Schemes[k] = name
		}
	}
	var b bytes.Buffer
	if err := EachText(&b, all); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if !strings.Contains(b.String(), "\n 9  lab-9") || strings.Count(b.String(), "small avg") != 2 {
		t.Errorf("ten runs:\n%s", &b)
	}
	if err := EachText(failing{}, all); err == nil {
		t.Error("a writer that fails goes unnoticed")
	}
}
