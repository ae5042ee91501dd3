package trafficgen

import (
	"math"
	"slices"
	"testing"

	"aqmlab/kind"
)

// Of web search flows, a bit more than half are small and carry a hundredth of
// the bytes; the table has 0.53 at 80 KB and 0.6 at 200 KB, and 0.97 at 10 MB.
func TestSummarizeWebsearch(t *testing.T) {
	s := Summarize(mustSizes(t, "websearch", nil))
	if s.Mean != 1711250 {
		t.Errorf("mean %v", s.Mean)
	}
	if at := slices.IndexFunc(s.Quantiles, func(q Quantile) bool { return q.Share == 0.9 }); at < 0 || math.Abs(s.Quantiles[at].Bytes-5e6) > 1 {
		t.Errorf("quantiles %v, want 5 MB at 0.9", s.Quantiles)
	}
	small := 0.53 + 0.07*20/120
	for i, want := range []struct {
		name         string
		flows, bytes float64
	}{
		// Bytes are the areas under the table's straight lines over the mean.
		{"small", small, (0.15*5e3 + 0.05*15e3 + 0.1*25e3 + 0.1*40e3 + 0.13*65e3 + (small-0.53)*90e3) / 1711250},
		{"medium", 0.97 - small, 1 - (0.03*20e6+0.15*5e3+0.05*15e3+0.1*25e3+0.1*40e3+0.13*65e3+(small-0.53)*90e3)/1711250},
		{"large", 0.03, 0.03 * 20e6 / 1711250},
	} {
		got := s.Classes[i]
		if got.Name != want.name || math.Abs(got.Flows-want.flows) > 1e-4 || math.Abs(got.Bytes-want.bytes) > 1e-4 {
			t.Errorf("class %+v, want %+v", got, want)
		}
	}
}

func TestSummarizeUniform(t *testing.T) {
	s := Summarize(mustSizes(t, "uniform", map[string]any{"min": "1KB", "max": "61KB"}))
	if want := 60e3 / math.Sqrt(12); math.Abs(s.Deviation/want-1) > 1e-3 || s.Mean != 31e3 {
		t.Errorf("mean %v, deviation %v, want 31000 and %v", s.Mean, s.Deviation, want)
	}
	if !slices.IsSortedFunc(s.Quantiles, func(a, b Quantile) int { return int(a.Bytes - b.Bytes) }) {
		t.Errorf("quantiles %v", s.Quantiles)
	}
}

// A sample is the sizes of a trace of the same seed.
func TestSampleIsThatOfATrace(t *testing.T) {
	flows := withSpec(t, func(s *Spec) { s.Sizes, s.Seed = kind.Choice{Kind: "hadoop"}, 7 })
	if got := Sample(mustSizes(t, "hadoop", nil), 50, 7); !slices.Equal(got, column(flows[:50], size)) {
		t.Errorf("sample %v differs from the trace's sizes", got)
	}
}
