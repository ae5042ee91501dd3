package trafficgen

import (
	"aqmlab/trafficgen/traffic"
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// cdf is a distribution given by points of its cumulative distribution
// function, straight lines between them. Sizes and probabilities never fall
// from one point to the next; the first probability is 0 and the last is 1.
// Two points of one size are an atom, two of one probability a hole.
type cdf []point

// point says that a flow has at most that many bytes with that probability.
type point struct{ bytes, probability float64 }

var _ Distribution = cdf(nil)

// Draw rounds to the nearest byte, which keeps the mean; a size below one byte
// becomes one.
func (c cdf) Draw(r *rand.Rand) int64 {
	return max(1, int64(math.Round(c.Quantile(r.Float64()))))
}

// Quantile inverts the function.
func (c cdf) Quantile(u float64) float64 {
	i, _ := slices.BinarySearchFunc(c, u, func(p point, u float64) int {
		if p.probability > u {
			return 1
		}
		return -1
	})
	a, b := c[i-1], c[i] // a.probability <= u < b.probability
	share := (u - a.probability) / (b.probability - a.probability)
	// The conversion forbids fusing the product into the sum.
	return a.bytes + float64(share*(b.bytes-a.bytes))
}

// Mean is the mean of the straight-line function, before rounding.
func (c cdf) Mean() float64 {
	var twice float64
	for i := 1; i < len(c); i++ {
		a, b := c[i-1], c[i]
		twice += float64((b.probability - a.probability) * (a.bytes + b.bytes))
	}
	return twice / 2
}

// parseCDF reads a table: a point a line, size in bytes and then cumulative
// probability, with a comma between them (and then, if the file wants, a
// header before the first point) or blanks, as in the files of
// HKUST-SING/TrafficGenerator. Empty lines and what follows a # are skipped.
// Errors begin with name and line.
func parseCDF(name string, r io.Reader) (cdf, error) {
	var c cdf
	line := 0
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		line++
		words, err := splitLine(scan.Text())
		if err == nil && words != nil && !(c == nil && slices.Equal(words, []string{"bytes", "cdf"})) {
			c, err = c.parse(words[0], words[1])
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: reading the table: %w", name, line+1, err)
	}
	if err := c.whole(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, max(1, line), err)
	}
	return c, nil
}

// splitLine returns the two words of a line, or nil when it says nothing.
func splitLine(text string) ([]string, error) {
	text, _, _ = strings.Cut(text, "#")
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	words := strings.Fields(text)
	if size, probability, comma := strings.Cut(text, ","); comma {
		words = []string{strings.TrimSpace(size), strings.TrimSpace(probability)}
	}
	if len(words) != 2 {
		return nil, fmt.Errorf("%q is not a point: want a size in bytes and a cumulative probability", text)
	}
	return words, nil
}

// parse appends a point that may follow the ones before it.
func (c cdf) parse(size, probability string) (cdf, error) {
	p := point{}
	var err error
	// Negated, the comparisons refuse NaN as well.
	if p.bytes, err = strconv.ParseFloat(size, 64); err != nil || !(p.bytes >= 0 && p.bytes <= traffic.MaxBytes) {
		return nil, fmt.Errorf("%q is not a size in bytes from 0 to %d", size, int64(traffic.MaxBytes))
	}
	if p.probability, err = strconv.ParseFloat(probability, 64); err != nil || !(p.probability >= 0 && p.probability <= 1) {
		return nil, fmt.Errorf("%q is not a cumulative probability from 0 to 1", probability)
	}
	if len(c) == 0 {
		if p.probability != 0 {
			return nil, fmt.Errorf("the first point has probability %s: begin with the smallest size and 0", probability)
		}
		return cdf{p}, nil
	}
	before := c[len(c)-1]
	if p.bytes < before.bytes {
		return nil, fmt.Errorf("size %s is below %v on the point before", size, before.bytes)
	}
	if p.probability < before.probability {
		return nil, fmt.Errorf("probability %s is below %v on the point before", probability, before.probability)
	}
	return append(c, p), nil
}

// whole tells whether a table that ended here is a distribution of sizes.
func (c cdf) whole() error {
	if len(c) == 0 {
		return errors.New("the table has no points")
	}
	last := c[len(c)-1]
	if last.probability != 1 {
		return fmt.Errorf("the table ends at probability %v: want 1", last.probability)
	}
	if c.Mean() == 0 {
		return errors.New("every size in the table is zero")
	}
	return nil
}
