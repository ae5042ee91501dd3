package results

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMeasure: of three small flows of 10, 30 and 80 us and a medium one that did not
// complete, the median is 30 us, the mean 40, and the one of rank ceil(0.99 x 3) 80.
func TestMeasure(t *testing.T) {
	cut := flowOf(3, 1_000_000, 0, 0)
	cut.Received, cut.Error = 10, "reset"
	p := Point{
		Flows: []Flow{flowOf(0, 1000, 0, 30*us), flowOf(1, 1000, 0, 10*us), flowOf(2, 100_000, 0, 80*us), cut},
		Counters: Counters{
			Ports: []PortCount{{Marked: 3, DropsFull: 2, DropsScheme: 5, PeakBytes: 9000}, {Marked: 4, PeakBytes: 12_000}, {}},
			Hosts: []HostCount{{Timeouts: 1}, {Timeouts: 2}},
			Links: []LinkCount{{Lost: 50}}, // which no switch dropped
		},
	}
	want := map[string]float64{
		"all.avg": 40, "all.p50": 30, "all.p99": 80, "small.avg": 40, "small.p50": 30, "small.p99": 80,
		"marks": 7, "drops": 7, "timeouts": 3, "completed": 0.75, "queue.peak": 12_000,
	}
	if got := Measure(p).Values; !maps.Equal(got, want) {
		t.Errorf("measured %v, want %v", got, want)
	}
	for _, m := range Metrics() {
		got, ok := m.Of(p)
		if v, has := want[m.Name]; ok != has || ok && got != v {
			t.Errorf("%s is %v, %v, want %v, %v", m.Name, got, ok, v, has)
		}
	}
}

// TestMeasureOfNothing: what nobody counted is unknown, and not zero.
func TestMeasureOfNothing(t *testing.T) {
	if got := Measure(Point{}).Values; len(got) > 0 {
		t.Errorf("nothing measured is %v", got)
	}
	partly := Point{Counters: Counters{Ports: []PortCount{{}}, Hosts: []HostCount{{Timeouts: 4}, {Timeouts: Unknown}}}}
	if got, want := Measure(partly).Values, (map[string]float64{"marks": 0, "drops": 0, "queue.peak": 0}); !maps.Equal(got, want) {
		t.Errorf("measured %v, want %v", got, want)
	}
}

// TestMeasurePrograms: a program's figure is the mean of what it measured. Ten values
// have a 99th percentile, which is the largest of them. Programs that failed have none.
// All comes back from JSON.
func TestMeasurePrograms(t *testing.T) {
	p := Point{Programs: []Program{
		{Name: "client", Start: 1000, End: 3000}, {Name: "server", Stopped: true}, {Name: "broken", Error: "exit status 1"},
	}}
	for i := range 10 {
		p.Figures = append(p.Figures, ProgramSample{Program: "client", Metric: "get", Unit: "ms", Better: Lower, Value: float64(i)})
	}
	p.Figures = append(p.Figures,
		ProgramSample{Program: "client", Metric: "rate", Unit: "1/s", Better: Higher, Value: 5},
		ProgramSample{Program: "broken", Metric: "rate", Unit: "1/s", Better: Higher, Value: 5})
	want := Measured{
		Values: map[string]float64{"programs.client.duration": 2, "programs.client.get": 4.5, "programs.client.get.p99": 9, "programs.client.rate": 5},
		Programs: []Metric{
			{Name: "programs.client.duration", Unit: "us", Doc: "duration of the program client", Lower: true},
			{Name: "programs.client.get", Unit: "ms", Doc: "get of the program client", Lower: true},
			{Name: "programs.client.get.p99", Unit: "ms", Doc: "get.p99 of the program client", Lower: true},
			{Name: "programs.client.rate", Unit: "1/s", Doc: "rate of the program client"},
		},
	}
	got := Measure(p)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("measured %+v, want %+v", got, want)
	}
	got.Values["small.p99"] = 7
	got.Share(Metric{Name: "coexistence.jain", Doc: "fairness"}, 0.9)
	if !Varies("coexistence.jain") || !Varies("programs.client.get") || Varies("small.p99") {
		t.Error("which metrics are of no table is not told")
	}
	slices.SortFunc(got.Programs, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) }) // as they are read
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var back Measured
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, got) {
		t.Errorf("%s is %+v, %v", text, back, err)
	}
	for _, bad := range []string{`[]`, `{"small.p99": "7"}`, `{"small.p99": null}`, `{"programs.client.rate": 5}`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s is %+v", bad, back)
		}
	}
}

func TestFindMetric(t *testing.T) {
	seen := make(map[string]bool)
	for _, m := range Metrics() {
		if found, err := FindMetric(m.Name); err != nil || found.Name != m.Name {
			t.Errorf("%s finds %q, %v", m.Name, found.Name, err)
		}
		if seen[m.Name] || m.Doc == "" || m.Lower != (m.Name != "completed") {
			t.Errorf("%+v: there before, not documented, or better the wrong way", m)
		}
		seen[m.Name] = true
	}
	for _, c := range Classes() {
		for _, of := range []string{".avg", ".p50", ".p99"} {
			if m, err := FindMetric(string(c) + of); err != nil || m.Unit != "us" {
				t.Errorf("%s%s: %+v, %v", c, of, m, err)
			}
		}
	}
	if _, err := FindMetric("tiny.p99"); !errors.Is(err, ErrNoMetric) || !strings.Contains(err.Error(), "small.p99, ") {
		t.Errorf("an unknown metric: %v", err)
	}
}

// BenchmarkMeasure measures a point of a million flows.
func BenchmarkMeasure(b *testing.B) {
	p := Point{Flows: make([]Flow, 1_000_000)}
	for i := range p.Flows {
		p.Flows[i] = flowOf(int64(i), int64(i%20)*1_000_000+1, 0, time.Duration(i*7919%1_000_003)*us)
	}
	for b.Loop() {
		Measure(p)
	}
}
