package sweep

import (
	"slices"
	"strings"
	"testing"
)

// TestValues: numbers of a range are exact, and the end belongs to it if a step hits it.
func TestValues(t *testing.T) {
	for text, want := range map[string]string{
		"a,b":              "a b",
		"0.1..0.5/0.1":     "0.1 0.2 0.3 0.4 0.5",
		"0.1..0.35/0.1":    "0.1 0.2 0.3",
		"1..4":             "1 2 3 4",
		"50us..150us/50us": "50us 100us 150us",
		"10us..100us*2":    "10us 20us 40us 80us",
		"1KB..2KB*1.5":     "1KB 1.5KB",
		"1..2,7":           "1 2 7",
		"[1,2],[3,4]":      "[1,2] [3,4]",
		"-1..1":            "-1 0 1",
	} {
		got, err := Values(text)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
}

func TestBadValues(t *testing.T) {
	for text, why := range map[string]string{
		"":              "empty value",
		"a,,b":          "empty value",
		"a,a":           "twice",
		"1..3,2":        "twice",
		"3..1":          "ends before it begins",
		"1..3/0":        "never ends",
		"1..3/-1":       "never ends",
		"1us..3us*1":    "never ends",
		"0us..3us*2":    "never ends",
		"1us..3ms/1us":  "units differ",
		"1us..3us/1":    "units differ",
		"1us..9us*2us":  "units differ",
		"x..y":          "no number",
		"0..1/0.000001": "more than 10000",
	} {
		if got, err := Values(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, %v, want an error with %q", text, got, err, why)
		}
	}
}

// TestGroup: keys of one group change together, so they have equally many values.
func TestGroup(t *testing.T) {
	g, err := ParseGroup("rtt.min=50us,100us with schemes.tcn.threshold=60us,120us")
	if err != nil || !slices.Equal(g.Keys, []string{"rtt.min", "schemes.tcn.threshold"}) ||
		!slices.Equal(g.Rows[0], []string{"50us", "60us"}) || !slices.Equal(g.Rows[1], []string{"100us", "120us"}) {
		t.Errorf("%+v, %v", g, err)
	}
	for _, bad := range []string{"rtt.min", "=1", "a=1 with a=2", "a=1,2 with b=1", "a="} {
		if g, err := ParseGroup(bad); err == nil {
			t.Errorf("%q: %+v, want an error", bad, g)
		}
	}
}

func TestParsePoint(t *testing.T) {
	keys, row, err := parsePoint("a=1 b=2us")
	if err != nil || !slices.Equal(keys, []string{"a", "b"}) || !slices.Equal(row, []string{"1", "2us"}) {
		t.Errorf("%v %v %v", keys, row, err)
	}
	for _, bad := range []string{"", "a", "a= b=1", "a=1 a=2"} {
		if _, _, err := parsePoint(bad); err == nil {
			t.Errorf("%q: want an error", bad)
		}
	}
}
