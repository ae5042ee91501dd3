package tune

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"

	"aqmlab/results"
)

// ErrAsked is wrapped by errors about what was asked for.
var ErrAsked = errors.New("cannot tune")

// Objective is the metric that is to be as small as can be.
type Objective struct {
	Metric string `json:"metric"`
}

// Constraint keeps a metric at most at, or at least at, a number or a multiple of the
// baseline's.
type Constraint struct {
	Text     string  `json:"text"`
	Metric   string  `json:"metric"`
	AtLeast  bool    `json:"at_least"`
	Limit    float64 `json:"limit"`    // a multiple where Relative
	Relative bool    `json:"relative"` // to the baseline
}

// ParseObjective checks the name of a metric.
func ParseObjective(text string) (Objective, error) {
	return Objective{text}, known(text)
}

// known checks the name of a metric. Some show when a lab has run.
func known(metric string) error {
	if results.Varies(metric) {
		return nil
	}
	_, err := results.FindMetric(metric)
	return err
}

// ParseConstraint reads "large.avg <= 1.03 * baseline" or "queue.peak <= 100000".
func ParseConstraint(text string) (Constraint, error) {
	parts := regexp.MustCompile(`^\s*([^\s<>=*]+)\s*(<=|>=)\s*([0-9.]+)?\s*(\*)?\s*(baseline)?\s*$`).FindStringSubmatch(text)
	wrong := func() (Constraint, error) {
		return Constraint{}, fmt.Errorf("%q: want METRIC <= NUMBER * baseline, METRIC <= baseline or METRIC <= NUMBER, or the same with >=", text)
	}
	if parts == nil || (parts[4] != "") != (parts[3] != "" && parts[5] != "") || parts[3] == "" && parts[5] == "" {
		return wrong()
	}
	if err := known(parts[1]); err != nil {
		return Constraint{}, fmt.Errorf("%q: %w", text, err)
	}
	c := Constraint{Text: text, Metric: parts[1], AtLeast: parts[2] == ">=", Limit: 1, Relative: parts[5] != ""}
	if parts[3] != "" {
		limit, err := strconv.ParseFloat(parts[3], 64)
		if err != nil || limit <= 0 {
			return wrong()
		}
		c.Limit = limit
	}
	return c, nil
}

// excess is how far a value is beyond the limit: the logarithm of their ratio, at most
// zero where the constraint holds. Base is the baseline's value.
func (c Constraint) excess(value, base float64) float64 {
	limit := c.Limit
	if c.Relative {
		limit *= base
	}
	excess := math.Log(value / limit)
	if c.AtLeast {
		excess = -excess
	}
	if math.IsNaN(excess) { // both are zero
		return 0
	}
	return excess
}
