package aqm

import (
	"fmt"
	"time"

	"aqmlab/units"
)

// RTTs sums up the base RTTs of the flows that a port serves. All are the same
// where base RTTs do not vary, and zero where none is known.
type RTTs struct {
	Min, Mean, P50, P90, P99, Max time.Duration
}

// OneRTT is of flows that all have that base RTT.
func OneRTT(rtt time.Duration) RTTs { return RTTs{rtt, rtt, rtt, rtt, rtt, rtt} }

// Statistic names one of [RTTs]. The kinds that compute a parameter from the base
// RTT have it as their parameter rtt, whose default is what their paper names.
type Statistic string

// The statistics of base RTTs.
const (
	MinRTT  Statistic = "min"
	MeanRTT Statistic = "mean"
	P50RTT  Statistic = "p50"
	P90RTT  Statistic = "p90"
	P99RTT  Statistic = "p99"
	MaxRTT  Statistic = "max"
)

// OneOf lists the statistics, for the documentation and checks of parameters.
func (Statistic) OneOf() []string {
	return []string{string(MinRTT), string(MeanRTT), string(P50RTT), string(P90RTT), string(P99RTT), string(MaxRTT)}
}

// Of is that statistic.
func (r RTTs) Of(s Statistic) time.Duration {
	rtt, _ := r.of(s)
	return rtt
}

// of is the statistic, and what to call it where base RTTs vary.
func (r RTTs) of(s Statistic) (time.Duration, string) {
	switch s {
	case MinRTT:
		return r.Min, "shortest base RTT"
	case MeanRTT:
		return r.Mean, "mean of base RTTs"
	case P50RTT:
		return r.P50, "median of base RTTs"
	case P90RTT:
		return r.P90, "90th percentile of base RTTs"
	case P99RTT:
		return r.P99, "99th percentile of base RTTs"
	case MaxRTT:
		return r.Max, "longest base RTT"
	}
	panic(fmt.Sprintf("no statistic %q of base RTTs", string(s)))
}

// describe says which base RTT the statistic is.
func (r RTTs) describe(s Statistic) string {
	rtt, name := r.of(s)
	if r.Min == r.Max {
		name = "base RTT"
	}
	return fmt.Sprintf("the %s (%s)", name, units.FormatTime(rtt))
}

// Derived is a parameter that a lab leaves to its scheme, and what it became.
type Derived struct {
	Param string // name of the parameter
	Value string // as a lab would write it
	From  string // what it was computed from
}

// Time computes a time that the lab leaves out: a share of a base RTT. It is zero
// where that is not known.
func (e Env) Time(param string, share float64, s Statistic) time.Duration {
	value := time.Duration(whole(float64(e.RTTs.Of(s)) * share))
	from := e.RTTs.describe(s)
	if share != 1 {
		from = fmt.Sprintf("%v x %s", share, from)
	}
	e.tell(param, units.FormatTime(value), from)
	return value
}

// Length computes a queue length that the lab leaves out, in bytes: the port's
// rate times a base RTT times lambda (MQ-ECN, section 2.2.1). It need not be a
// whole number, and is zero where the base RTT is not known.
func (e Env) Length(param string, lambda float64, s Statistic) float64 {
	value := standardThreshold(float64(e.Rate), e.RTTs.Of(s), lambda)
	from := fmt.Sprintf("%v x %s", e.Rate, e.RTTs.describe(s))
	if lambda != 1 {
		from += fmt.Sprintf(" x %v", lambda)
	}
	e.tell(param, units.Size(whole(value)).String(), from)
	return value
}

// share is a queue's share of a length by weight, for the queue's own value of a parameter;
// from is what to call the length. No share bounds a queue that is served strictly.
func (e Env) share(length float64, queue int, param, from string) int {
	sum, weight := 0, e.Weights[queue]
	for _, w := range e.Weights {
		sum += w
	}
	k := whole(length)
	if weight > 0 {
		k, from = whole(length*float64(weight)/float64(sum)), fmt.Sprintf("%d/%d of %s", weight, sum, from)
	} else {
		from += ", as it is served strictly"
	}
	e.tell(fmt.Sprintf("%s of queue %d", param, queue), units.Size(k).String(), from)
	return k
}

// tell passes a parameter on to who asked for it.
func (e Env) tell(param, value, from string) {
	if e.Tell != nil {
		e.Tell(Derived{param, value, from})
	}
}
