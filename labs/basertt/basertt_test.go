package basertt

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shapeOf builds a shape of the table.
func shapeOf(t testing.TB, name string, params map[string]any) Shape {
	t.Helper()
	s, err := Table().New(name, params, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mean is the mean of a shape, by the midpoints of equal parts.
func mean(s Shape) float64 {
	const parts = 1_000_000
	sum := 0.0
	for i := range parts {
		sum += s((float64(i) + 0.5) / parts)
	}
	return sum / parts
}

// TestShapes: every RTT is in the range. The long tail has the mean and the 90th percentile
// that ECN# has published (80 to 240 us: about 137 us and 220 us).
func TestShapes(t *testing.T) {
	table := filepath.Join(t.TempDir(), "rtts.csv")
	if err := os.WriteFile(table, []byte("100us,0\n140us,0.5\n300us,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name         string
		params       map[string]any
		mean, median float64
		p90          float64
	}{
		{"fixed", nil, 0, 0, 0},
		{"uniform", nil, 0.5, 0.5, 0.9},
		{"long-tail", nil, (137.0 - 80) / 160, 0, (220.0 - 80) / 160},
		{"cdf", map[string]any{"file": table}, (0.5*120 + 0.5*220 - 100) / 200, 0.2, (268.0 - 100) / 200},
	} {
		s := shapeOf(t, tt.name, tt.params)
		last := 0.0
		for i := range 1000 {
			at := s(float64(i) / 1000)
			if at < last || at > 1 {
				t.Fatalf("%s: %v at %v, after %v", tt.name, at, float64(i)/1000, last)
			}
			last = at
		}
		if got := mean(s); math.Abs(got-tt.mean) > 0.001 {
			t.Errorf("%s: mean %v, want %v", tt.name, got, tt.mean)
		}
		if got := s(0.9); math.Abs(got-tt.p90) > 1e-9 {
			t.Errorf("%s: 90th percentile %v, want %v", tt.name, got, tt.p90)
		}
		if got := s(0.5); tt.median > 0 && math.Abs(got-tt.median) > 1e-9 {
			t.Errorf("%s: median %v, want %v", tt.name, got, tt.median)
		}
	}
}

// TestBadTables: what is wrong with a table of RTTs is said with its name.
func TestBadTables(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "rtts.csv")
	for text, want := range map[string]string{
		"5us 0\n5us 1\n":    path + ": one RTT is no range",
		"-5us 0\n5us 1\n":   path + ":1: -5us is negative",
		"5 0\n6us 1\n":      path + ":1: ",
		"5us 0\n6us 0.5\n":  path + ":2: the table ends at probability 0.5",
		"7us 0\n6us 1\n":    path + ":2: RTT 6us is below",
		"7us 0 1\n6us 1\n":  path + ":1: ",
		"0us 0\n":           path + ":1: the table ends at probability 0",
		"# nothing at all ": path + ":1: the table has no points",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Table().New("cdf", map[string]any{"file": path}, struct{}{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for want, params := range map[string]map[string]any{
		"missing: want the name of a file": nil,
		"opening the table of RTTs":        {"file": filepath.Join(dir, "none")},
	} {
		if _, err := Table().New("cdf", params, struct{}{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", params, err, want)
		}
	}
	if _, err := Table().New("cdf", map[string]any{"file": "/dev/zero"}, struct{}{}); err == nil || !strings.Contains(err.Error(), "/dev/zero:1: ") {
		t.Errorf("a file that never ends: %v", err)
	}
}

// FuzzTable: whatever a table of RTTs holds, it is an error that names it, or a shape that
// rises from 0 to at most 1.
func FuzzTable(f *testing.F) {
	f.Add("100us,0\n140us,0.5\n300us,1\n")
	f.Add("0s 0\n0s 0.5\n1h 1 # end\n")
	f.Add("rtt,cdf\n1e-3ms,0\n2us,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "rtts.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Table().New("cdf", map[string]any{"file": path}, struct{}{})
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("error %v does not name %s", err, path)
			}
			return
		}
		last := 0.0
		for i := range 50 {
			at := s(float64(i) / 50)
			if !(at >= last && at <= 1) {
				t.Fatalf("%v at %v, after %v", at, float64(i)/50, last)
			}
			last = at
		}
	})
}
