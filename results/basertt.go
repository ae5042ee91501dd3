package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// BaseRTT is what was measured, on the idle lab, of the base RTTs of the data
// that one host sends: one connection or several.
type BaseRTT struct {
	Seed        uint64  `json:"seed"` // whose draws the lab had
	Host        string  `json:"host"`
	Connections int     `json:"connections"`
	Measured    RTTSpan `json:"measured_us"`
	Lab         RTTSpan `json:"lab_us"` // what the lab gives the same connections
}

// RTTSpan sums up the RTTs of some connections. It is zero for none.
type RTTSpan struct {
	Mean Micros `json:"mean"`
	Min  Micros `json:"min"`
	Max  Micros `json:"max"`
}

// SpanOf sums up RTTs.
func SpanOf(rtts []time.Duration) RTTSpan {
	if len(rtts) == 0 {
		return RTTSpan{}
	}
	sum := time.Duration(0)
	for _, rtt := range rtts {
		sum += rtt
	}
	return RTTSpan{Micros(sum / time.Duration(len(rtts))), Micros(slices.Min(rtts)), Micros(slices.Max(rtts))}
}

// rttTolerance is how far measured base RTTs may be from the lab's before a run
// says so.
const rttTolerance = 0.05

// off is the largest relative error of mean and range. A lab that gives no RTT is
// never missed.
func (b BaseRTT) off() float64 {
	worst := 0.0
	for _, of := range [][2]Micros{{b.Measured.Mean, b.Lab.Mean}, {b.Measured.Min, b.Lab.Min}, {b.Measured.Max, b.Lab.Max}} {
		if of[1] > 0 {
			worst = max(worst, math.Abs(float64(of[0])/float64(of[1])-1))
		}
	}
	return worst
}

// MissedRTTs says that base RTTs are more than 5 % off the lab's, in their mean
// or their range, and of which host most. It is empty when none is.
func MissedRTTs(all []BaseRTT) string {
	missed := slices.DeleteFunc(slices.Clone(all), func(b BaseRTT) bool { return b.off() <= rttTolerance })
	if len(missed) == 0 {
		return ""
	}
	worst := slices.MaxFunc(missed, func(a, b BaseRTT) int { return cmp.Compare(a.off(), b.off()) })
	return fmt.Sprintf("the base RTTs of %d of %d measurements are more than %.0f %% off the lab's, most of all those of %s with seed %d: %s, want %s",
		len(missed), len(all), 100*rttTolerance, worst.Host, worst.Seed, worst.Measured, worst.Lab)
}

// String is the mean, and the range if there is one.
func (s RTTSpan) String() string {
	text := func(m Micros) string { return time.Duration(m).Round(100 * time.Nanosecond).String() }
	if s.Min == s.Max {
		return text(s.Mean)
	}
	return fmt.Sprintf("%s (%s to %s)", text(s.Mean), text(s.Min), text(s.Max))
}
