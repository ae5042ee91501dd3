package coexist

import (
	"time"

	"aqmlab/results"
)

// Rule is what goes into a judgement beside the measurements.
type Rule struct {
	Window time.Duration // that goodput is added up over; zero: a 200th of the time with flows
	Band   float64       // by which share of its fair goodput a party may be off and count as fair, 0 to 1
	Hold   int           // windows one after another, 1 or more, for which all must be fair
}

// Usual is the rule of reports. Shares have converged when all parties are within 20 % of
// what is fair for five windows.
func Usual() Rule { return Rule{Band: 0.2, Hold: 5} }

// windows is how many a point is cut into.
const windows = 200

// Judgement is how the parties of a point shared its network.
type Judgement struct {
	Parties []string       `json:"parties"`
	Window  results.Micros `json:"window_us"` // that goodput was added up over
	Windows int            `json:"windows"`   // in which every party had a flow under way throughout
	Changes int            `json:"changes"`   // of who is under way, after which nobody joined or left for long enough to look for convergence
	Port    string         `json:"port"`      // whose link was used most; empty: no port was sampled
	Values  []Value        `json:"values"`
}

// Value is one measure of a point, of one of its parties or classes, or of the whole.
type Value struct {
	Measure string  `json:"measure"` // its name, see [Measures]
	Of      string  `json:"of,omitempty"`
	Value   float64 `json:"value"`
}

// Of finds a value. ok is false where the point does not have it.
func (j Judgement) Of(measure, of string) (value float64, ok bool) {
	for _, v := range j.Values {
		if v.Measure == measure && v.Of == of {
			return v.Value, true
		}
	}
	return 0, false
}

func (j *Judgement) add(measure, of string, value float64) {
	j.Values = append(j.Values, Value{measure, of, value})
}

// window is a whole number of intervals between samples.
func (r Rule) window(span, over time.Duration) time.Duration {
	w := r.Window
	if w == 0 {
		w = span / windows
	}
	over = max(over, 1)
	return max((w+over-1)/over, 1) * over
}

// step is the interval between samples of goodput; zero without any.
func step(samples []results.ServiceSample) time.Duration {
	if len(samples) == 0 {
		return 0
	}
	return samples[0].Over
}
