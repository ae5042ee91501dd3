package trafficgen

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/kind"
)

func mustSizes(t *testing.T, name string, params map[string]any) Distribution {
	t.Helper()
	d, err := Sizes().New(name, params, Env{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSizesTable(t *testing.T) {
	want := []string{"websearch", "datamining", "cache", "hadoop", "websearch-ns2", "datamining-ns2", "pareto", "fixed", "uniform", "cdf"}
	if got := Sizes().Names(); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("rows %v, want %v", got, want)
	}
	for _, row := range Sizes() {
		if row.Doc == "" || strings.HasSuffix(row.Doc, ".") {
			t.Errorf("%s: doc %q is not a line without a full stop", row.Name, row.Doc)
		}
	}
}

func TestFixed(t *testing.T) {
	d := mustSizes(t, "fixed", map[string]any{"size": "64KB"})
	if d.Mean() != 64000 {
		t.Errorf("mean %v, want 64000", d.Mean())
	}
	for _, v := range draw(d, 10) {
		if v != 64000 {
			t.Fatalf("drew %d, want 64000", v)
		}
	}
}

func TestUniform(t *testing.T) {
	const low, high, n = 5, 14, 10_000
	d := mustSizes(t, "uniform", map[string]any{"min": "5B", "max": "14B"})
	if d.Mean() != 9.5 {
		t.Errorf("mean %v, want 9.5", d.Mean())
	}
	counts := make([]int, high-low+1)
	for _, v := range draw(d, n) {
		if v < low || v > high {
			t.Fatalf("drew %d, want %d to %d", v, low, high)
		}
		counts[v-low]++
	}
	checkShares(t, counts, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
}

// checkShares is Pearson's test of counts against expected shares at a
// significance of about 0.0001: chi-squared stays within four standard
// deviations of its mean, which is the number of degrees of freedom, and a
// share of zero stays without a count.
func checkShares(t *testing.T, counts []int, shares []float64) {
	t.Helper()
	var n, sum float64
	for i := range counts {
		n += float64(counts[i])
		sum += shares[i]
	}
	var chi, freedom float64
	for i, c := range counts {
		if shares[i] == 0 {
			if c != 0 {
				t.Errorf("%d of something with share zero", c)
			}
			continue
		}
		want := n * shares[i] / sum
		chi += (float64(c) - want) * (float64(c) - want) / want
		freedom++
	}
	freedom--
	if limit := freedom + 4*math.Sqrt(2*freedom); chi > limit {
		t.Errorf("counts %v for shares %v: chi-squared %.1f, want at most %.1f", counts, shares, chi, limit)
	}
}

func TestCDFFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mine.txt")
	if err := os.WriteFile(path, []byte("0 0\n1000 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"mine.txt": dir, path: "elsewhere"} {
		d, err := Sizes().New("cdf", map[string]any{"file": name}, Env{Dir: dir})
		if err != nil || d.Mean() != 500 {
			t.Errorf("file %s from %s: %v, %v; want mean 500", name, dir, d, err)
		}
	}
}

func TestSizesErrors(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.csv")
	if err := os.WriteFile(broken, []byte("0,0\n10,0.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind   string
		params map[string]any
		want   string
	}{
		{"fixed", nil, "fixed: size: 0B is outside"},
		{"fixed", map[string]any{"size": "2000GB"}, "fixed: size: 2000GB is outside"},
		{"fixed", map[string]any{"size": 5}, "fixed: size: 5 has no unit"},
		{"uniform", nil, "uniform: max: 0B is outside"},
		{"uniform", map[string]any{"min": "0B", "max": "1KB"}, "uniform: min: 0B is outside"},
		{"uniform", map[string]any{"min": "2KB", "max": "1KB"}, "uniform: max: 1KB is below min, 2KB"},
		{"cdf", nil, "cdf: file: missing"},
		{"cdf", map[string]any{"file": broken}, "cdf: file: " + broken + ":2: the table ends at probability 0.5"},
		{"websearch", map[string]any{"size": "1KB"}, "websearch: size: unknown parameter"},
	} {
		_, err := Sizes().New(c.kind, c.params, Env{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s %v: error %v, want %s", c.kind, c.params, err, c.want)
		}
	}
}

func TestSizesErrorKinds(t *testing.T) {
	_, err := Sizes().New("cdf", map[string]any{"file": "none.csv"}, Env{Dir: t.TempDir()})
	if param := (*kind.ParamError)(nil); !errors.As(err, &param) || param.Param != "file" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent file: error %v, want one of parameter file that says it does not exist", err)
	}
	if _, err := Sizes().New("weibull", nil, Env{}); !errors.Is(err, kind.ErrUnknown) {
		t.Errorf("unknown kind: error %v, want %v", err, kind.ErrUnknown)
	}
}
