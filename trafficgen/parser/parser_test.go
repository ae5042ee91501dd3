package parser

import (
	"reflect"
	"strings"
	"testing"

	"aqmlab/results"
)

// parse reads a program's output with a row of the table.
func parse(t *testing.T, kind string, params map[string]any, o Output) ([]results.ProgramSample, error) {
	t.Helper()
	p, err := Table().New(kind, params, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	return p.Parse(o)
}

// TestParsers: what tools write is read as their manuals define it.
func TestParsers(t *testing.T) {
	for _, c := range []struct {
		kind   string
		params map[string]any
		out    Output
		want   []results.ProgramSample
	}{
		{"lines", nil, Output{Stdout: []byte("hello\n{\"metric\": \"rtt\", \"value\": 1.5, \"unit\": \"ms\"}\n\n{\"metric\":\"rate\",\"value\":0,\"better\":\"higher\"}")}, []results.ProgramSample{
			{Metric: "rtt", Unit: "ms", Better: "lower", Value: 1.5},
			{Metric: "rate", Better: "higher"},
		}},
		{"lines", map[string]any{"from": "descriptor"}, Output{Stdout: []byte("{no figure}"), Figures: []byte(`{"metric": "n", "value": 3}`)}, []results.ProgramSample{{Metric: "n", Better: "lower", Value: 3}}},
		{"lines", map[string]any{"file": "f"}, Output{Stdout: []byte(`{"metric": "no", "value": 1}`), Figures: []byte(`{"metric": "n", "value": 3}`)}, []results.ProgramSample{{Metric: "n", Better: "lower", Value: 3}}},
		{"iperf3", nil, Output{Stdout: []byte(`{"start": {}, "end": {"streams": [{"sender": {"mean_rtt": 257}}, {"sender": {"mean_rtt": 300}}],
			"sum_sent": {"bits_per_second": 2e9, "retransmits": 4}, "sum_received": {"bits_per_second": 1.5e9}}}`)}, []results.ProgramSample{
			{Metric: "goodput", Unit: "bit/s", Better: "higher", Value: 1.5e9},
			{Metric: "retransmits", Unit: "packets", Better: "lower", Value: 4},
			{Metric: "rtt", Unit: "us", Better: "lower", Value: 257},
			{Metric: "rtt", Unit: "us", Better: "lower", Value: 300},
		}},
		{"redis-benchmark", nil, Output{Stdout: []byte("SET: rps=0.0\r====== GET ======\n  1000 requests completed in 0.1 seconds\n\nLatency by percentile distribution:\n" +
			"0.000% <= 0.055 milliseconds (cumulative count 1)\n50.000% <= 0.100 milliseconds (cumulative count 500)\n" +
			"98.438% <= 0.2 milliseconds (cumulative count 984)\n99.219% <= 0.3 milliseconds (cumulative count 992)\n" +
			"99.902% <= 0.4 milliseconds (cumulative count 999)\n100.000% <= 0.4 milliseconds (cumulative count 1000)\n\n" +
			"Cumulative distribution of latencies:\n100.000% <= 0.407 milliseconds (cumulative count 1000)\n\nSummary:\n  throughput summary: 9900.5 requests per second\n")},
			[]results.ProgramSample{
				{Metric: "get.p50", Unit: "us", Better: "lower", Value: 100},
				{Metric: "get.p99", Unit: "us", Better: "lower", Value: 300},
				{Metric: "get.p99.9", Unit: "us", Better: "lower", Value: 400},
				{Metric: "get.throughput", Unit: "requests/s", Better: "higher", Value: 9900.5},
			}},
		{"memcaslap", nil, Output{Stdout: []byte("servers: 10.77.0.2:11211\nexecute number: 2000\nGet Statistics (1800 events)\n   Min:        18\n   Max:      3119\n   Avg:       111\n   Geo:     84.31\n" +
			"   Std:    185.20\n   Log2 Dist:\n       4:        0       61      548      803\n\nSet Statistics (200 events)\n   Min:        21\n   Max:      2442\n   Avg:       136\n   Geo:     96.57\n\n" +
			"Total Statistics (2000 events)\n   Min:        18\n   Max:      3119\n   Avg:       114\n\ncmd_get: 1800\ncmd_set: 200\nget_misses: 3\n\nRun time: 0.1s Ops: 2000 TPS: 33902 Net_rate: 37.9M/s\n")},
			[]results.ProgramSample{
				{Metric: "get.mean", Unit: "us", Better: "lower", Value: 111},
				{Metric: "get.max", Unit: "us", Better: "lower", Value: 3119},
				{Metric: "set.mean", Unit: "us", Better: "lower", Value: 136},
				{Metric: "set.max", Unit: "us", Better: "lower", Value: 2442},
				{Metric: "misses", Unit: "requests", Better: "lower", Value: 3},
				{Metric: "throughput", Unit: "requests/s", Better: "higher", Value: 33902},
			}},
		{"ping", nil, Output{Stdout: []byte("64 bytes from 10.77.0.1: icmp_seq=1 ttl=64 time=0.25 ms\n64 bytes from 10.77.0.1: icmp_seq=3 ttl=64 time=1.5 ms\n\n--- 10.77.0.1 ping statistics ---\n3 packets transmitted, 2 received, 33.3333% packet loss, time 400ms\n")}, []results.ProgramSample{
			{Metric: "rtt", Unit: "us", Better: "lower", Value: 250},
			{Metric: "rtt", Unit: "us", Better: "lower", Value: 1500},
			{Metric: "lost", Unit: "packets", Better: "lower", Value: 1},
		}},
	} {
		got, err := parse(t, c.kind, c.params, c.out)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v\nwant %+v", c.kind, got, err, c.want)
		}
	}
}

// TestStrangeOutput: what is not a tool's output is no figure, and the error says why.
func TestStrangeOutput(t *testing.T) {
	for _, c := range []struct{ kind, out, want string }{
		{"lines", `{"value": 1}`, `line 1 of stdout: it has no "metric"`},
		{"lines", "words\n{\"metric\": \"x\"}", `line 2 of stdout: it has no "value"`},
		{"lines", `{"metric": "x", "value": 1, "better": "up"}`, `"better" is "up": want lower or higher`},
		{"lines", "{", "line 1"},
		{"iperf3", "connected", "--json"},
		{"iperf3", `{"error": "unable to connect"}`, "unable to connect"},
		{"iperf3", `{"end": {}}`, "sum_received"},
		{"redis-benchmark", "GET: 5698.01 requests per second", "without --csv and -q"},
		{"memcaslap", "get_misses: 0\nRun time: 0.0s Ops: 500 TPS: 26986 Net_rate: 30.2M/s\n", "--stat_freq=1h"},
		{"memcaslap", "servers: 10.77.0.2:11211\nthreads count: 1\n", "did not reach its end"},
		{"ping", "connect: Network is unreachable", "no summary"},
	} {
		if got, err := parse(t, c.kind, nil, Output{Stdout: []byte(c.out)}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %q: %v, %v; want %q", c.kind, c.out, got, err, c.want)
		}
	}
}

// TestFilesElsewhere: a file of figures is in the program's folder.
func TestFilesElsewhere(t *testing.T) {
	for _, file := range []string{"/etc/passwd", "../x", "a/../../x"} {
		if _, err := Table().New("lines", map[string]any{"file": file}, struct{}{}); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// FuzzParsers: whatever a program writes, a parser ends with figures or an error.
func FuzzParsers(f *testing.F) {
	f.Add("{\"metric\": \"rtt\", \"value\": 1.5}\n====== GET ======\n99.9% <= 1 milliseconds (cumulative count 1)\n3 packets transmitted, 2 received")
	f.Fuzz(func(t *testing.T, text string) {
		for _, row := range Table() {
			p, err := Table().New(row.Name, nil, struct{}{})
			if err != nil {
				t.Fatal(err)
			}
			all, err := p.Parse(Output{Stdout: []byte(text)})
			for _, s := range all {
				if err == nil && (s.Metric == "" || s.Better != results.Lower && s.Better != results.Higher) {
					t.Errorf("%s: %+v", row.Name, s)
				}
			}
		}
	})
}
