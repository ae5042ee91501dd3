//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/orchestrator/testbed"
	"aqmlab/results"
)

// TestPairsAndLab: words are changes or, one of them, the lab, in any order.
func TestPairsAndLab(t *testing.T) {
	isPair := func(word string) bool { return strings.Contains(word, "=") }
	pairs, lab, err := pairsAndLab([]string{"a=1", "mine", "b=2"}, isPair)
	if err != nil || lab != "mine" || !slices.Equal(pairs, []string{"a=1", "b=2"}) {
		t.Errorf("%v, %q, %v", pairs, lab, err)
	}
	for _, words := range [][]string{{"mine"}, {"a=1", "mine", "yours"}} {
		if _, _, err := pairsAndLab(words, isPair); err == nil || !strings.Contains(err.Error(), "mine") {
			t.Errorf("%v: %v", words, err)
		}
	}
}

// interval is of a queue that did everything.
func interval() labInterval {
	return labInterval{"00ff", "x", results.Interval{At: 3 * time.Second, Length: time.Second, Queues: []results.QueueStats{{
		Switch: "s1", Port: "h2", Queue: 3, Bytes: 3000, Packets: 2,
		SojournMean: 123456, SojournP50: 100 * time.Microsecond, SojournP99: 250 * time.Microsecond, SojournMax: 3 * time.Millisecond,
		MarkedEnqueue: 11, MarkedDequeue: 12, DroppedFull: 13, DroppedEnqueue: 14, DroppedDequeue: 15, Sent: 1000, SentBytes: 1500000, Rate: 12e6,
	}}, Links: []results.LinkCount{{From: "s1", To: "h2", Lost: 7, LostDown: 8}}}}
}

// TestStatsForms: a table, JSON and CSV show the same.
func TestStatsForms(t *testing.T) {
	want := []string{"s1", "h2", "3", "3000", "2", "123.5us", "100us", "250us", "3ms", "11", "12", "13", "14", "15", "1000", "12Mbps"}
	var out bytes.Buffer
	if err := (statsFlags{}).printer(&out)(interval()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if got := strings.Fields(lines[3]); !slices.Equal(got, want) || !strings.Contains(out.String(), "link s1 to h2 lost 7 by chance, 8 because it was down") {
		t.Errorf("table:\n%s", &out)
	}
	out.Reset()
	csv := (statsFlags{asCSV: true}).printer(&out)
	for range 2 {
		if err := csv(interval()); err != nil {
			t.Fatal(err)
		}
	}
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(rows) != 3 || rows[1] != rows[2] {
		t.Fatalf("CSV:\n%s", &out)
	}
	out.Reset()
	if err := (statsFlags{asJSON: true, every: time.Second}).printer(&out)(interval()); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Fatalf("%v in %s", err, &out)
	}
	var i struct{ Queues []map[string]any }
	d := json.NewDecoder(&out)
	d.UseNumber()
	if err := d.Decode(&i); err != nil {
		t.Fatal(err)
	}
	values := strings.Split(rows[1], ",")
	for c, name := range strings.Split(rows[0], ",")[2:] {
		if got, ok := i.Queues[0][name]; !ok || values[2+c] != asText(got) {
			t.Errorf("%s is %s in CSV, %v in JSON", name, values[2+c], got)
		}
	}
}

func asText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return v.(json.Number).String()
}

// TestStatsFlags refuses flags that do not fit each other.
func TestStatsFlags(t *testing.T) {
	for _, bad := range []statsFlags{{asJSON: true, asCSV: true}, {every: 1}, {count: 3}, {count: -1, every: time.Second}} {
		if bad.check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// TestChanges: status says what was set, and which events still hold.
func TestChanges(t *testing.T) {
	i := testbed.Info{Dilation: 1, Set: []string{"schemes.tcn.threshold=1us"}, Events: []testbed.Happened{
		{Words: []string{"link=s1:h2", "down"}, Until: 1},
		{Words: []string{"host=h3", "rtt=1ms"}},
	}}
	if got := i.Changes(); !slices.Equal(got, []string{"schemes.tcn.threshold=1us", "host=h3 rtt=1ms"}) {
		t.Errorf("changes %q", got)
	}
	if got := (testbed.Info{Congctl: "dctcp_00ff", Common: "dctcp"}).Congestion(); got != "dctcp_00ff, dctcp" {
		t.Errorf("congestion control %q", got)
	}
	if got := (testbed.Info{Congctl: "dctcp", Common: "dctcp"}).Congestion(); got != "dctcp" {
		t.Errorf("congestion control %q", got)
	}
}
