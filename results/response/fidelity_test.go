package response

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// unfaithful is a sweep in which the best setting has low fidelity with its second seed.
func unfaithful() Set {
	values := map[string]float64{"50us": 100, "99us": 200}
	s := sheet([]Axis{axis("schemes.tcn.threshold", "50us 99us"), axis("workload.load", "0.5 0.9")}, "tcn red", 2,
		func(scheme string, at []string, seed uint64) map[string]float64 {
			v := values[at[0]] + float64(seed)
			if scheme == "red" {
				v = 300
			}
			return map[string]float64{"small.p99": v, "large.avg": 2 * v}
		})
	for i, p := range s.Points {
		if p.Scheme == "tcn" && p.Seed == 2 && slices.Equal(p.Values, []string{"50us", "0.9"}) {
			s.Points[i].Low = []string{"p99 lateness is 14 % of the base RTT"}
		}
	}
	return s
}

// TestLowFidelity: whatever rests on points of low fidelity is flagged, and nothing else.
func TestLowFidelity(t *testing.T) {
	v := viewOf(t, unfaithful(), Options{})
	rows := func(text, title string) (flagged []string) {
		t.Helper()
		_, table, ok := strings.Cut(text, title)
		if !ok {
			t.Fatalf("%q is not in %s", title, text)
		}
		table, _, _ = strings.Cut(table, "\n\n")
		for line := range strings.Lines(table) {
			if strings.Contains(line, "!") {
				flagged = append(flagged, fields(line))
			}
		}
		return flagged
	}
	var text bytes.Buffer
	if err := v.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for title, want := range map[string]string{
		"Best setting of each scheme":       "tcn at load 0.9 *!",
		"small.p99 and large.avg, load 0.9": "tcn threshold 50us !",
		"small.p99, load 0.9":               "50us !",
	} {
		if flagged := rows(text.String(), title); len(flagged) != 1 || !strings.HasPrefix(flagged[0], want) {
			t.Errorf("%s: flagged %q, want %s", title, flagged, want)
		}
	}
	if flagged := rows(text.String(), "Closest to its best under every condition"); len(flagged) != 2 { // of two metrics
		t.Errorf("the setting that suits all loads: flagged %q", flagged)
	}
	if flagged := rows(text.String(), "small.p99 and large.avg, load 0.5"); flagged != nil {
		t.Errorf("at load 0.5 nothing has low fidelity: %q", flagged)
	}
	said := fields(text.String())
	for _, want := range []string{"1 of 12 points has low fidelity", "For example, tcn at load 0.5, seed 2: p99 lateness is 14 % of the base RTT", "!: rests on points of low fidelity"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in %s", want, text.String())
		}
	}
	var page bytes.Buffer
	if err := v.WriteHTML(&page); err != nil || !strings.Contains(page.String(), "1 of 12 points has low fidelity") || strings.Count(page.String(), "low fidelity in 1 of 2 seeds") < 2 {
		t.Errorf("the page does not say so: %v, %d", err, strings.Count(page.String(), "low fidelity in 1 of 2 seeds"))
	}
}

// TestLowFidelityForPrograms: JSON and CSV say how many points have low fidelity.
func TestLowFidelityForPrograms(t *testing.T) {
	v := viewOf(t, unfaithful(), Options{})
	var text, table bytes.Buffer
	if err := v.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	type flagged struct {
		Condition string `json:"condition"`
		Scheme    string `json:"scheme"`
		Low       int    `json:"low_fidelity"`
	}
	var got struct {
		Best   []flagged `json:"best"`
		Robust []flagged `json:"robust"`
		Fronts []struct {
			Settings []flagged `json:"settings"`
		} `json:"fronts"`
		Cells []flagged `json:"cells"`
	}
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	count := func(all []flagged) (n int) {
		for _, f := range all {
			n += f.Low
		}
		return n
	}
	fronts := 0
	for _, f := range got.Fronts {
		fronts += count(f.Settings)
	}
	if count(got.Cells) != 1 || count(got.Best) != 2 || count(got.Robust) != 2 || fronts != 1 { // best and robust of two metrics
		t.Errorf("cells %d, best %d, robust %d, fronts %d", count(got.Cells), count(got.Best), count(got.Robust), fronts)
	}
	if err := v.WriteCSV(&table); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := slices.Index(rows[0], "low_fidelity")
	low := 0
	for _, row := range rows[1:] {
		if row[column] != "0" {
			low++
		}
	}
	if low != 2 { // a cell, two metrics
		t.Errorf("%d rows have low fidelity: %v", low, rows)
	}
}
