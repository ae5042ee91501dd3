package parser

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"aqmlab/results"
)

// textOnly is what parsers have in common that read what people read.
type textOnly struct{}

func (textOnly) Source() Source { return Source{} }

// iperf3 reads the report of a client.
type iperf3 struct{ textOnly }

func newIperf3(struct{}, struct{}) (Parser, error) { return iperf3{}, nil }

func (iperf3) Parse(o Output) ([]results.ProgramSample, error) {
	type sum struct {
		Rate        *float64 `json:"bits_per_second"`
		Retransmits *float64 `json:"retransmits"`
	}
	var read struct {
		Error string `json:"error"`
		End   struct {
			Streams []struct {
				Sender struct {
					RTT *float64 `json:"mean_rtt"`
				} `json:"sender"`
			} `json:"streams"`
			Sent     sum `json:"sum_sent"`
			Received sum `json:"sum_received"`
		} `json:"end"`
	}
	if err := json.Unmarshal(o.Stdout, &read); err != nil {
		return nil, fmt.Errorf("what iperf3 wrote is no JSON (is --json among its arguments?): %w", err)
	}
	if read.Error != "" {
		return nil, fmt.Errorf("iperf3 says: %s", read.Error)
	}
	if read.End.Received.Rate == nil {
		return nil, errors.New("what iperf3 wrote has no end.sum_received: it is not a client's report of TCP")
	}
	all := []results.ProgramSample{{Metric: "goodput", Unit: "bit/s", Better: results.Higher, Value: *read.End.Received.Rate}}
	if n := read.End.Sent.Retransmits; n != nil {
		all = append(all, results.ProgramSample{Metric: "retransmits", Unit: "packets", Better: results.Lower, Value: *n})
	}
	for _, s := range read.End.Streams {
		if s.Sender.RTT != nil {
			all = append(all, results.ProgramSample{Metric: "rtt", Unit: "us", Better: results.Lower, Value: *s.Sender.RTT})
		}
	}
	return all, nil
}

// redis reads what redis-benchmark writes for people: its CSV has no percentile above
// the 99th.
type redis struct{ textOnly }

func newRedis(struct{}, struct{}) (Parser, error) { return redis{}, nil }

var (
	redisTest       = regexp.MustCompile(`^=+ (.+?) =+$`)
	redisPercentile = regexp.MustCompile(`^([0-9.]+)% <= ([0-9.]+) milliseconds \(cumulative count ([0-9]+)\)$`)
	redisThroughput = regexp.MustCompile(`^ *throughput summary: ([0-9.]+) requests per second$`)
)

// redisPercentiles are those that are kept. A distribution has the latency of the
// first request at or beyond each.
func redisPercentiles() []struct {
	name  string
	share float64
} {
	return []struct {
		name  string
		share float64
	}{{"p50", 50}, {"p99", 99}, {"p99.9", 99.9}}
}

func (redis) Parse(o Output) ([]results.ProgramSample, error) {
	var all []results.ProgramSample
	test, next := "", 0
	for _, line := range strings.FieldsFunc(string(o.Stdout), func(r rune) bool { return r == '\n' || r == '\r' }) {
		if m := redisTest.FindStringSubmatch(line); m != nil {
			test, next = strings.ToLower(m[1]), 0
			continue
		}
		if m := redisThroughput.FindStringSubmatch(line); m != nil && test != "" {
			v, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				return nil, err
			}
			all = append(all, results.ProgramSample{Metric: test + ".throughput", Unit: "requests/s", Better: results.Higher, Value: v})
			continue
		}
		m := redisPercentile.FindStringSubmatch(line)
		if m == nil || test == "" {
			continue
		}
		share, serr := strconv.ParseFloat(m[1], 64)
		ms, merr := strconv.ParseFloat(m[2], 64)
		if err := errors.Join(serr, merr); err != nil {
			return nil, err
		}
		for wanted := redisPercentiles(); next < len(wanted) && share >= wanted[next].share; next++ {
			all = append(all, results.ProgramSample{Metric: test + "." + wanted[next].name, Unit: "us", Better: results.Lower, Value: ms * 1000})
		}
	}
	if len(all) == 0 {
		return nil, errors.New("what redis-benchmark wrote has no latencies: want its output for people, without --csv and -q")
	}
	return all, nil
}

// ping reads the replies one by one.
type ping struct{ textOnly }

func newPing(struct{}, struct{}) (Parser, error) { return ping{}, nil }

var (
	pingReply   = regexp.MustCompile(`(?m) time=([0-9.]+) ms$`)
	pingSummary = regexp.MustCompile(`(?m)^([0-9]+) packets transmitted, ([0-9]+) received`)
)

func (ping) Parse(o Output) ([]results.ProgramSample, error) {
	var all []results.ProgramSample
	for _, m := range pingReply.FindAllSubmatch(o.Stdout, -1) {
		ms, err := strconv.ParseFloat(string(bytes.TrimSpace(m[1])), 64)
		if err != nil {
			return nil, err
		}
		all = append(all, results.ProgramSample{Metric: "rtt", Unit: "us", Better: results.Lower, Value: ms * 1000})
	}
	m := pingSummary.FindSubmatch(o.Stdout)
	if m == nil {
		return nil, errors.New("what ping wrote has no summary")
	}
	sent, serr := strconv.Atoi(string(m[1]))
	received, rerr := strconv.Atoi(string(m[2]))
	if err := errors.Join(serr, rerr); err != nil {
		return nil, err
	}
	return append(all, results.ProgramSample{Metric: "lost", Unit: "packets", Better: results.Lower, Value: float64(sent - received)}), nil
}
