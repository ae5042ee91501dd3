package cli

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aqmlab/trafficgen"
)

// The mean of web search and the 90th percentile stand in its published table.
func TestWorkloadShow(t *testing.T) {
	raw, _ := run(t, 0, "workload", "show", "websearch", "--json", "--sample", "3", "--seed", "7")
	w := decode[workload](t, raw)
	if w.Summary == nil || w.Summary.Mean != 1711250 || len(w.Sample) != 3 {
		t.Errorf("shown\n%s", raw)
	}
	again, _ := run(t, 0, "workload", "show", "websearch", "--json", "--sample", "3", "--seed", "7")
	if again != raw {
		t.Errorf("shown again\n%s", again)
	}
	text, _ := run(t, 0, "workload", "show", "websearch", "--sample", "3")
	for _, want := range []string{"mean 1.71MB", "90 %     5MB", "small  100KB  54.17 %", "\n     2  "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// A distribution of one's own, given by parameters.
func TestWorkloadSet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.csv")
	if err := os.WriteFile(path, []byte("1000,0\n2000,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	raw, _ := run(t, 0, "workload", "show", "cdf", "--json", "--set", "file="+path)
	if w := decode[workload](t, raw); w.Summary == nil || w.Summary.Mean != 1500 {
		t.Errorf("shown\n%s", raw)
	}
	raw, _ = run(t, 0, "workload", "show", "pareto", "--json", "--set", "mean=60KB,shape=1.5")
	if q := decode[workload](t, raw).Summary.Quantiles[0]; math.Abs(q.Bytes-20e3) > 1 {
		t.Errorf("the smallest flows have %v bytes, want 20000", q.Bytes)
	}
	raw, _ = run(t, 0, "workload", "show", "fixed", "--json")
	if decode[workload](t, raw).Summary != nil {
		t.Errorf("a distribution without its size has a shape\n%s", raw)
	}
	for _, bad := range [][]string{
		{"fixed", "--sample", "3"}, {"fixed", "--set", "size=3"}, {"poisson", "--sample", "3"},
		{"websearch", "--sample", "-1"}, {"websearch", "--set", "mean=3"}, {"web"},
	} {
		run(t, exitUsage, append([]string{"workload", "show"}, bad...)...)
	}
}

// The drawing: in every row, the sizes from the quantile of the row's middle on
// are filled, twelve columns a power of ten.
func TestPrintCDF(t *testing.T) {
	d, err := trafficgen.Sizes().New("uniform", map[string]any{"min": "1B", "max": "100B"}, trafficgen.Env{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	printCDF(&out, d)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 22 || lines[20] != "       +"+strings.Repeat("-----------+", 2) || strings.Fields(lines[21])[2] != "100B" {
		t.Fatalf("drawn\n%s", &out)
	}
	var filled []int
	for row, line := range lines[:20] {
		filled = append(filled, strings.Count(line, "#"))
		p := float64(20-row) - 0.5
		if want := 24 - int(12*math.Log10(1+math.Floor(p/20*100))); filled[row] != want || len(line) != 8+24 {
			t.Errorf("row %q has %d filled, want %d", line, filled[row], want)
		}
	}
	if !slices.IsSorted(filled) {
		t.Errorf("drawn\n%s", &out)
	}
}
