package trafficgen

import (
	"encoding/csv"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"aqmlab/bounded"
)

// publishedMeans are the means of the published tables, straight lines between
// the points, as worked out outside this package.
func publishedMeans() map[string]float64 {
	return map[string]float64{
		"websearch": 1711250, "datamining": 12658198.6, "cache": 910689.6, "hadoop": 4135296.7,
		"websearch-ns2": 1665830.8, "datamining-ns2": 7470236,
	}
}

func TestPublishedMeans(t *testing.T) {
	for name, want := range publishedMeans() {
		d := mustSizes(t, name, nil)
		if got := d.Mean(); math.Abs(got-want) > 0.05 {
			t.Errorf("%s: mean %.2f, want %.1f", name, got, want)
		}
	}
}

// The web search table as the TrafficGenerator's DCTCP_CDF.txt has it.
func TestWebsearchPoints(t *testing.T) {
	want := cdf{
		{0, 0}, {10e3, .15}, {20e3, .2}, {30e3, .3}, {50e3, .4}, {80e3, .53},
		{200e3, .6}, {1e6, .7}, {2e6, .8}, {5e6, .9}, {10e6, .97}, {30e6, 1},
	}
	if got := mustSizes(t, "websearch", nil); !slices.Equal(got.(cdf), want) {
		t.Errorf("points %v, want %v", got, want)
	}
}

// Kolmogorov and Smirnov: the largest distance between the sampled and the
// tabulated function stays below the critical value for a significance of
// 0.001, sqrt(-ln(0.0005)/2) = 1.949 over the root of the sample size. For
// functions with steps the test is conservative. The functions are compared
// at whole bytes, where rounding to the nearest byte makes the sampled one
// equal the tabulated one half a byte higher.
func TestSamplesFollowTheTable(t *testing.T) {
	const n, critical = 100_000, 1.949
	for name := range publishedMeans() {
		table := readTable(t, "cdf/"+name+".csv")
		sample := draw(mustSizes(t, name, nil), n)
		slices.Sort(sample)
		var distance float64
		for i, v := range sample {
			if i+1 < n && sample[i+1] == v {
				continue // the step of v ends at its last copy
			}
			first, _ := slices.BinarySearch(sample, v)
			distance = max(distance,
				math.Abs(float64(i+1)/n-table.at(float64(v)+0.5)),
				math.Abs(float64(first)/n-table.at(float64(v)-0.5)))
		}
		if limit := critical / math.Sqrt(n); distance > limit {
			t.Errorf("%s: distance %.5f from the table, want at most %.5f", name, distance, limit)
		}
	}
}

func TestSampleMeans(t *testing.T) {
	const n = 200_000
	for name := range publishedMeans() {
		d := mustSizes(t, name, nil)
		mean, deviation := moments(draw(d, n))
		if off := math.Abs(mean - d.Mean()); off > 4*deviation/math.Sqrt(n) {
			t.Errorf("%s: sample mean %.0f, want %.0f within four standard errors", name, mean, d.Mean())
		}
	}
}

// table is read and evaluated apart from the code under test.
type table struct{ size, prob []float64 }

func readTable(t *testing.T, path string) table {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var tab table
	for _, row := range rows[1:] {
		size, err1 := strconv.ParseFloat(row[0], 64)
		prob, err2 := strconv.ParseFloat(row[1], 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("%s: %v, %v", path, err1, err2)
		}
		tab.size, tab.prob = append(tab.size, size), append(tab.prob, prob)
	}
	return tab
}

// at is the probability of at most x bytes.
func (tab table) at(x float64) float64 {
	p := 0.0
	for i := range tab.size {
		switch {
		case tab.size[i] <= x:
			p = tab.prob[i]
		case i > 0 && tab.size[i-1] <= x:
			return p + (x-tab.size[i-1])/(tab.size[i]-tab.size[i-1])*(tab.prob[i]-tab.prob[i-1])
		}
	}
	return p
}

func draw(d Distribution, n int) []int64 {
	r := rand.New(rand.NewPCG(1, 2))
	sample := make([]int64, n)
	for i := range sample {
		sample[i] = d.Draw(r)
	}
	return sample
}

func moments(sample []int64) (mean, deviation float64) {
	for _, v := range sample {
		mean += float64(v) / float64(len(sample))
	}
	for _, v := range sample {
		deviation += (float64(v) - mean) * (float64(v) - mean) / float64(len(sample))
	}
	return mean, math.Sqrt(deviation)
}

func TestDrawIsAtLeastOneByte(t *testing.T) {
	d, err := parseCDF("tiny", strings.NewReader("0 0\n0 0.9\n2 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range draw(d, 1000) {
		if v < 1 || v > 2 {
			t.Fatalf("drew %d bytes, want 1 or 2", v)
		}
	}
}

func TestParseCDF(t *testing.T) {
	want := cdf{{100, 0}, {100, 0.5}, {3000, 1}}
	for name, text := range map[string]string{
		"csv":               "# from somewhere\nbytes,cdf\n100,0\n100,0.5\n\n3000,1\n",
		"csv, no header":    "100, 0\n100, 0.5\n3000, 1",
		"blanks":            "100 0\n100 0.5\n3000 1\n",
		"tabs, comment":     "100\t0\r\n  100\t 0.5 # half\r\n3e3\t1\r\n",
		"comment after all": "100 0\n100 0.5\n3000 1\n# end\n",
	} {
		got, err := parseCDF(name, strings.NewReader(text))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, want)
		}
	}
}

func TestParseCDFErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "f:1: the table has no points",
		"# nothing\n\n":            "f:2: the table has no points",
		"0 0\n5\n":                 "f:2: \"5\" is not a point",
		"0 0 0\n":                  "f:1: \"0 0 0\" is not a point",
		" , \n":                    "f:1: \"\" is not a size in bytes",
		"0,0\n,1\n":                "f:2: \"\" is not a size in bytes",
		"0,0,0\n":                  "f:1: \"0,0\" is not a cumulative probability",
		"0 0\nbytes cdf\n":         "f:2: \"bytes\" is not a size in bytes",
		"0 0\n-1 1\n":              "f:2: \"-1\" is not a size in bytes",
		"0 0\nnan 1\n":             "f:2: \"nan\" is not a size in bytes",
		"0 0\n1e13 1\n":            "f:2: \"1e13\" is not a size in bytes",
		"0 0\n10 1.5\n":            "f:2: \"1.5\" is not a cumulative probability",
		"0 0\n10 nan\n":            "f:2: \"nan\" is not a cumulative probability",
		"5 0.5\n10 1\n":            "f:1: the first point has probability 0.5",
		"0 0\n10 0.5\n9 1\n":       "f:3: size 9 is below",
		"0 0\n10 0.5\n20 0.4\n":    "f:3: probability 0.4 is below 0.5",
		"0 0\n10 0.5\n# end\n":     "f:3: the table ends at probability 0.5: want 1",
		"0 0\n0 1\n":               "f:2: every size in the table is zero",
		"0 0\n0 1\n1 1\n":          "f:3: every size in the table is zero", // a size that nothing has
		strings.Repeat("9", 1<<17): "f:1: reading the table",
	} {
		_, err := parseCDF("f", strings.NewReader(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %s", text, err, want)
		}
	}
}

// endless is a file that repeats its text for ever.
type endless string

func (e endless) Read(b []byte) (n int, err error) {
	for n+len(e) <= len(b) {
		n += copy(b[n:], e)
	}
	return n, nil
}

// TestEndlessTables: a table that never ends is an error, whether it has points or not.
func TestEndlessTables(t *testing.T) {
	for _, text := range []string{"\n", "# x\n", "0 0\n"} {
		if _, err := parseCDF("f", endless(text)); !errors.Is(err, bounded.ErrTooLarge) || !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("%q for ever: %v", text, err)
		}
	}
}

// Whatever parses is a distribution: it draws sizes within the table's range
// and has a finite mean; whatever does not says in which file and line.
func FuzzParseCDF(f *testing.F) {
	for _, seed := range []string{
		"bytes,cdf\n0,0\n10000,0.15\n30000000,1\n",
		"# c\n0 0\n180\t.1\n1e9 1 # tail\n",
		"0 0\n0 0\n1 1\n1 1\n",
		"1460,0\n1460,1\n", "0 0\n5 0.5", ",", "0 0\nInf 1", "0 -0\n0x10 1",
	} {
		f.Add(seed, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		c, err := parseCDF("f", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("error without file and line: %v", err)
			}
			return
		}
		largest := c[len(c)-1].Value
		if m := c.Mean(); !(m > 0 && m <= largest*(1+1e-9)) {
			t.Fatalf("mean %v of sizes up to %v", m, largest)
		}
		r := rand.New(rand.NewPCG(seed, 0))
		for range 100 {
			if v := c.Draw(r); v < 1 || float64(v) > max(1, math.Round(largest)) {
				t.Fatalf("drew %d of sizes up to %v", v, largest)
			}
		}
	})
}
