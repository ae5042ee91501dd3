package tune

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// Param is a parameter that is searched.
type Param struct {
	Key  string  `json:"key"` // of the lab: schemes.tcn.threshold
	Low  float64 `json:"low"` // nanoseconds, bytes, or a plain number
	High float64 `json:"high"`
	Unit string  `json:"unit"` // ns, B, or empty
	// Whole is set for what is counted: times, sizes, whole numbers.
	Whole bool `json:"whole"`
}

// at is the value at a share of the range, from 0 to 1: of its logarithm, unless the
// range begins at zero. It has three digits, as no result depends on more.
func (p Param) at(share float64) string {
	value := p.Low + share*(p.High-p.Low)
	if p.Low > 0 {
		value = p.Low * math.Pow(p.High/p.Low, share)
	}
	text := strconv.FormatFloat(value, 'g', 3, 64)
	if p.Whole {
		rounded, _ := strconv.ParseFloat(text, 64)
		text = strconv.FormatInt(int64(math.Round(rounded)), 10)
	}
	return text + p.Unit
}

// Space lists the parameters of a lab's scheme that are searched: those of the ranges
// ("threshold=50us..500us") that are given, or else those that the table of schemes
// marks as tunable. Ranges of the table are in base RTTs of the lab and in bandwidth-delay
// products.
func Space(lab *labs.Lab, scheme string, ranges []string) ([]Param, error) {
	i := slices.IndexFunc(lab.Schemes, func(s labs.Scheme) bool { return s.Name == scheme })
	if i < 0 {
		var names []string
		for _, s := range lab.Schemes {
			names = append(names, s.Name)
		}
		return nil, fmt.Errorf("lab %s: %w", lab.Name, kind.Unknown("scheme", scheme, names))
	}
	var all []Param
	known := paramsOf(lab, lab.Schemes[i])
	var names []string
	for _, p := range known {
		names = append(names, p.Name)
		if len(ranges) > 0 || p.Tune == "" {
			continue
		}
		made, err := parse(lab, scheme, p, p.Tune)
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	for _, text := range ranges {
		name, span, _ := strings.Cut(text, "=")
		at := slices.Index(names, name)
		if at < 0 {
			return nil, fmt.Errorf("scheme %s: %w", scheme, kind.Unknown("parameter", name, names))
		}
		made, err := parse(lab, scheme, known[at], span)
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	if all == nil {
		return nil, fmt.Errorf("%w: scheme %s (%s) has no parameter that is marked as tunable: name one with its range", ErrAsked, scheme, lab.Schemes[i].AQM.Kind)
	}
	return all, nil
}

// paramsOf lists the parameters of a scheme, those of its ingress side as ingress.name.
func paramsOf(lab *labs.Lab, s labs.Scheme) (all []kind.Param) {
	for _, row := range lab.Kinds.Schemes().Entries() {
		if row.Name == s.AQM.Kind {
			all = append(all, row.Params...)
		}
	}
	for _, row := range port.Gates().Entries() {
		for _, p := range row.Params {
			if row.Name == s.Ingress.Kind {
				p.Name = "ingress." + p.Name
				all = append(all, p)
			}
		}
	}
	return all
}

// parse reads a range: "0.1rtt..4rtt", "0.1bdp..4bdp", "50us..500us", "10KB..1MB",
// "0.1..4".
func parse(lab *labs.Lab, scheme string, p kind.Param, text string) (Param, error) {
	key := "schemes." + scheme + "." + p.Name
	wrong := func(why string) (Param, error) {
		return Param{}, fmt.Errorf("%w: range %s=%s: %s: want such as 50us..500us, 10KB..1MB, 0.1..4, 0.1rtt..4rtt or 0.1bdp..4bdp", ErrAsked, key, text, why)
	}
	low, high, ok := strings.Cut(text, "..")
	if !ok {
		return wrong("it has no two ends")
	}
	from, unit, err := amount(lab, low)
	to, other, err2 := amount(lab, high)
	switch {
	case err != nil:
		return wrong(err.Error())
	case err2 != nil:
		return wrong(err2.Error())
	case unit != other:
		return wrong("its ends are of two kinds")
	case from < 0 || to <= from:
		return wrong("it is empty")
	}
	return Param{Key: key, Low: from, High: to, Unit: unit, Whole: unit != "" || p.Type == "whole number"}, nil
}

// amount reads one end of a range.
func amount(lab *labs.Lab, text string) (value float64, unit string, err error) {
	parts := regexp.MustCompile(`^([0-9.]+)(rtt|bdp)?$`).FindStringSubmatch(text)
	if parts == nil {
		if d, err := time.ParseDuration(text); err == nil {
			return float64(d), "ns", nil
		}
		var size units.Size
		if err := size.UnmarshalText([]byte(text)); err != nil {
			return 0, "", err
		}
		return float64(size), "B", nil
	}
	if value, err = strconv.ParseFloat(parts[1], 64); err != nil {
		return 0, "", err
	}
	rtt := max(lab.RTT.Min, lab.RTT.Max)
	switch parts[2] {
	case "rtt":
		return value * float64(rtt), "ns", nil
	case "bdp":
		return value * rtt.Seconds() * float64(lab.Topology.Rate) / 8, "B", nil
	}
	return value, "", nil
}

// halton is the i-th of a sequence that fills the range from 0 to 1 evenly, however many
// of it are taken (Halton, 1960). Sequences of different primes are independent.
func halton(i, prime int) float64 {
	share, f := 0.0, 1.0
	for i > 0 {
		f /= float64(prime)
		share += f * float64(i%prime)
		i /= prime
	}
	return share
}

// candidate is the i-th setting that is tried, from 1.
func candidate(space []Param, i int) []string {
	primes := []int{2, 3, 5, 7, 11, 13, 17, 19}
	var set []string
	for d, p := range space {
		set = append(set, p.Key+"="+p.at(halton(i, primes[d%len(primes)])))
	}
	return set
}
