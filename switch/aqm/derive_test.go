package aqm

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// varying is the testbed of ECN#, section 2.3: 10 Gbps, base RTTs from 70 us to
// 210 us, of which the average is worth 100 KB and the 90th percentile 250 KB.
func varying() Env {
	us := time.Microsecond
	e := env()
	e.Rate = 10 * units.Gbps
	e.Weights = []int{2, 1, 1, 0}
	e.RTTs = RTTs{Min: 70 * us, Mean: 80 * us, P50: 75 * us, P90: 200 * us, P99: 205 * us, Max: 210 * us}
	return e
}

// derive builds a scheme and answers what it computed.
func derive(t *testing.T, name string, params map[string]any, e Env) (Scheme, []Derived) {
	t.Helper()
	var all []Derived
	e.Tell = func(d Derived) { all = append(all, d) }
	s, err := Table().New(name, params, e)
	if err != nil {
		t.Fatal(err)
	}
	return s, all
}

// TestDerivedWhereRTTsVary: each kind takes the RTT that its paper names. ECN#,
// sections 3.4 and 5.2: ins_target and pst_interval 200 us, pst_target 85 us;
// section 2.3: DCTCP-RED-Tail 250 KB and, of the average, 100 KB. MQ-ECN, section
// 2.2.1: the average. CoDel (Nichols and Jacobson, 2012): a worst-case RTT.
func TestDerivedWhereRTTsVary(t *testing.T) {
	const p90, mean, longest = "the 90th percentile of base RTTs (200us)", "the mean of base RTTs (80us)", "the longest base RTT (210us)"
	tests := []struct {
		scheme string
		params map[string]any
		want   []Derived
	}{
		{"ecn-sharp", nil, []Derived{{"ins_target", "200us", p90}, {"pst_interval", "200us", p90}, {"pst_target", "85us", "0.425 x " + p90}}},
		{"ecn-sharp", map[string]any{"pst_rule": "average"}, []Derived{{"ins_target", "200us", p90}, {"pst_interval", "200us", p90}, {"pst_target", "80us", mean}}},
		{"ecn-sharp", map[string]any{"pst_target": "10us", "pst_interval": "150us"}, []Derived{{"ins_target", "200us", p90}}},
		{"ecn-sharp", map[string]any{"ins_max": "220us", "pst_target": "10us"}, []Derived{{"pst_interval", "200us", p90}}},
		{"dctcp-red", nil, []Derived{{"threshold", "250KB", "10Gbps x " + p90}}},
		{"dctcp-red", map[string]any{"rtt": "mean"}, []Derived{{"threshold", "100KB", "10Gbps x " + mean}}},
		{"dctcp-red", map[string]any{"threshold": "80KB"}, nil},
		{"dctcp-red", map[string]any{"kmax": "80KB"}, nil},
		{"dctcp-red", map[string]any{"threshold": "minimum"}, []Derived{
			{"standard threshold", "250KB", "10Gbps x " + p90},
			{"threshold of queue 0", "125KB", "2/4 of the standard threshold"},
			{"threshold of queue 1", "62.5KB", "1/4 of the standard threshold"},
			{"threshold of queue 2", "62.5KB", "1/4 of the standard threshold"},
			{"threshold of queue 3", "250KB", "the standard threshold, as it is served strictly"}}},
		{"tcn", nil, []Derived{{"threshold", "200us", p90}}},
		{"tcn", map[string]any{"lambda": 0.17}, []Derived{{"threshold", "34us", "0.17 x " + p90}}},
		{"tcn", map[string]any{"rtt": "max"}, []Derived{{"threshold", "210us", longest}}},
		{"tcn", map[string]any{"threshold": "150us"}, nil},
		{"mq-ecn", nil, []Derived{{"threshold", "100KB", "10Gbps x " + mean}, {"t_idle", "1.2us", "the time of 1500 bytes at 10Gbps"}}},
		{"mq-ecn", map[string]any{"rtt": "p90", "lambda": 0.5, "t_idle": "2us"}, []Derived{{"threshold", "125KB", "10Gbps x " + p90 + " x 0.5"}}},
		{"ideal-red", nil, []Derived{{"threshold", "250KB", "10Gbps x " + p90}}},
		{"ideal-red", map[string]any{"estimator": "oracle", "capacities": []any{"5Gbps", "5Gbps", "5Gbps", "1Gbps"}}, []Derived{
			{"threshold of queue 0", "125KB", "5Gbps x " + p90}, {"threshold of queue 1", "125KB", "5Gbps x " + p90},
			{"threshold of queue 2", "125KB", "5Gbps x " + p90}, {"threshold of queue 3", "25KB", "1Gbps x " + p90}}},
		{"red", nil, []Derived{{"max", "250KB", "10Gbps x " + p90}, {"min", "83.333KB", "max / 3"}}},
		{"codel", nil, []Derived{{"interval", "210us", longest}, {"target", "10.5us", "interval / 20"}}},
		{"codel", map[string]any{"target": "10us", "rtt": "p99"}, []Derived{{"interval", "205us", "the 99th percentile of base RTTs (205us)"}}},
		{"droptail", nil, nil},
		{"pie", nil, nil},
	}
	for _, tt := range tests {
		if _, got := derive(t, tt.scheme, tt.params, varying()); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %v: derived %v, want %v", tt.scheme, tt.params, got, tt.want)
		}
	}
}

// TestDerivedDecides: what is told is what decides.
func TestDerivedDecides(t *testing.T) {
	us := time.Microsecond
	for name, limit := range map[string]time.Duration{"tcn": 200 * us, "ecn-sharp": 200 * us} {
		s, _ := derive(t, name, nil, varying())
		if at, above := s.Depart(0, nil, View{Waited: limit}), s.Depart(0, nil, View{Waited: limit + 1}); at != Pass || above != Mark {
			t.Errorf("%s: %v at %v, %v above", name, at, limit, above)
		}
	}
	for name, limit := range map[string]int{"dctcp-red": 250_000, "mq-ecn": 100_000, "ideal-red": 250_000} {
		s, _ := derive(t, name, nil, varying())
		if at, above := s.Arrive(0, nil, View{Packets: 9, Bytes: limit, PortBytes: limit}), s.Arrive(0, nil, View{Packets: 9, Bytes: limit + 1, PortBytes: limit + 1}); at != Pass || above != Mark {
			t.Errorf("%s: %v at %d bytes, %v above", name, at, limit, above)
		}
	}
}

// TestOneRTTHasOneStatistic: where base RTTs do not vary, it does not matter which
// is taken. Whoever has the parameter rtt tells what it computes from it.
func TestOneRTTHasOneStatistic(t *testing.T) {
	for _, k := range Table() {
		if !slices.ContainsFunc(k.Params, func(p kind.Param) bool { return p.Name == "rtt" }) {
			continue
		}
		_, want := derive(t, k.Name, nil, env())
		if len(want) == 0 {
			t.Errorf("%s has the parameter rtt, and tells nothing", k.Name)
		}
		for _, s := range P90RTT.OneOf() {
			if _, got := derive(t, k.Name, map[string]any{"rtt": s}, env()); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, rtt %s: %v, want %v", k.Name, s, got, want)
			}
		}
	}
}

func TestBadStatistics(t *testing.T) {
	refuses(t, "tcn", []refusal{{map[string]any{"rtt": "p42"}, "rtt: unknown statistic"}})
	refuses(t, "ecn-sharp", []refusal{{map[string]any{"pst_rule": "average", "pst_target": "10us"}, "pst_rule: pst_target is set"}})
}
