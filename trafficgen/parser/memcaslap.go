package parser

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"aqmlab/results"
)

// memcaslap reads what libmemcached's load generator for memcached writes at its end.
type memcaslap struct{ textOnly }

func newMemcaslap(struct{}, struct{}) (Parser, error) { return memcaslap{}, nil }

var (
	memcaslapTimes  = regexp.MustCompile(`(?m)^(Get|Set) Statistics \([0-9]+ events\)\n +Min: +[0-9]+\n +Max: +([0-9]+)\n +Avg: +([0-9]+)$`)
	memcaslapMisses = regexp.MustCompile(`(?m)^get_misses: ([0-9]+)$`)
	memcaslapRate   = regexp.MustCompile(`(?m)^Run time: .* TPS: ([0-9]+) `)
)

func (memcaslap) Parse(o Output) ([]results.ProgramSample, error) {
	var all []results.ProgramSample
	var errs []error
	add := func(metric, unit, better, text string) {
		v, err := strconv.ParseFloat(text, 64)
		all = append(all, results.ProgramSample{Metric: metric, Unit: unit, Better: better, Value: v})
		errs = append(errs, err)
	}
	text := string(o.Stdout)
	rate := memcaslapRate.FindStringSubmatch(text)
	if rate == nil {
		return nil, errors.New("what memcaslap wrote has no TPS: it did not reach its end, or is not of memcaslap")
	}
	for _, m := range memcaslapTimes.FindAllStringSubmatch(text, -1) {
		test := strings.ToLower(m[1])
		add(test+".mean", "us", results.Lower, m[3])
		add(test+".max", "us", results.Lower, m[2])
	}
	if len(all) == 0 {
		return nil, errors.New("what memcaslap wrote has no latencies: want a long --stat_freq among its arguments, such as --stat_freq=1h")
	}
	if m := memcaslapMisses.FindStringSubmatch(text); m != nil {
		add("misses", "requests", results.Lower, m[1])
	}
	add("throughput", "requests/s", results.Higher, rate[1])
	return all, errors.Join(errs...)
}
