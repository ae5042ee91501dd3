// Package basertt is the distributions of base RTTs that labs have.
package basertt

import (
	"errors"
	"fmt"
	"os"

	"aqmlab/kind"
	"aqmlab/trafficgen"
	"aqmlab/units"
)

// Shape is a distribution of base RTTs, whatever their range: where in it, 0
// being the shortest and 1 the longest, the RTT stands that a share u in [0, 1)
// does not exceed. It never falls.
type Shape func(u float64) float64

// parts is how finely [Shape.Mean] looks at a distribution: at the middles of so many
// equal parts of it.
const parts = 10_000

// Mean is where in its range the mean of the distribution stands.
func (s Shape) Mean() float64 {
	sum := 0.0
	for i := range parts {
		sum += s((float64(i) + 0.5) / parts)
	}
	return sum / parts
}

// Fixed is the distribution of a lab that names none.
const Fixed = "fixed"

// Table lists the distributions of base RTTs.
func Table() kind.Table[struct{}, Shape] {
	return kind.Table[struct{}, Shape]{
		kind.Row(Fixed, "rtt.min for all", struct{}{}, newFixed),
		kind.Row("uniform", "every RTT from rtt.min to rtt.max is as likely", struct{}{}, newUniform),
		kind.Row("long-tail", "many short ones and few long ones: the mean stands at 0.356 of the range and the 90th percentile at 0.875, as in the simulations of ECN# (80 to 240 us, about 137 and 220 us; IEEE TCC 2022, section 5.3)", struct{}{}, newLongTail),
		kind.Row("cdf", "a table of RTTs and cumulative probabilities from a file, interpolated linearly and stretched to the range", table{}, newTable),
	}
}

func newFixed(struct{}, struct{}) (Shape, error) {
	return func(float64) float64 { return 0 }, nil
}

func newUniform(struct{}, struct{}) (Shape, error) {
	return func(u float64) float64 { return u }, nil
}

// The long tail has the two figures that are published of one: of RTTs from 80
// to 240 us, the mean is about 137 us and the 90th percentile about 220 us
// (ECN#, section 5.3), which is 0.356 and 0.875 of the range. Up to the 90th
// percentile it grows with the square of u, the one power that gives this mean;
// the last tenth is spread evenly over the rest.
const (
	tailFrom = 0.9
	tailAt   = 0.875
)

func newLongTail(struct{}, struct{}) (Shape, error) {
	return func(u float64) float64 {
		if u < tailFrom {
			return tailAt * u * u / (tailFrom * tailFrom)
		}
		// The conversion forbids fusing the product into the sum.
		return tailAt + float64((1-tailAt)*(u-tailFrom)/(1-tailFrom))
	}, nil
}

// table is a distribution of its own.
type table struct {
	File string `lab:"file" doc:"lines of an RTT such as 85us and a cumulative probability, with a comma or blanks between; # starts a comment"`
}

// newTable maps the first RTT of a table to 0 and the last to 1.
func newTable(p table, _ struct{}) (Shape, error) {
	if p.File == "" {
		return nil, kind.Invalid("file", "missing: want the name of a file")
	}
	f, err := os.Open(p.File)
	if err != nil {
		return nil, kind.Invalid("file", "opening the table of RTTs: %w", err)
	}
	defer f.Close()
	c, err := trafficgen.ReadCDF(p.File, f, trafficgen.Values{Name: "RTT", Form: "an RTT", Parse: nanoseconds})
	if err == nil && c[0].Value == c[len(c)-1].Value {
		err = errors.New(p.File + ": one RTT is no range")
	}
	if err != nil {
		return nil, kind.Invalid("file", "%w", err)
	}
	for i, first := 0, c[0].Value; i < len(c); i++ {
		c[i].Value -= first
	}
	return func(u float64) float64 { return c.Quantile(u) / c[len(c)-1].Value }, nil
}

func nanoseconds(text string) (float64, error) {
	rtt, err := units.ParseTime(text)
	if err == nil && rtt < 0 {
		err = fmt.Errorf("%s is negative", units.FormatTime(rtt))
	}
	return float64(rtt), err
}
