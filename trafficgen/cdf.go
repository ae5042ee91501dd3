package trafficgen

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sort"
	"strconv"
	"strings"

	"aqmlab/bounded"
	"aqmlab/trafficgen/traffic"
)

// CDF is a cumulative distribution function, given by points with straight lines
// between them. Values and probabilities never fall from one point to the next;
// the first probability is 0 and the last is 1. Two points of one value are an
// atom, two of one probability a hole.
type CDF []Point

// Point says that something is at most that value with that probability.
type Point struct{ Value, Probability float64 }

// Quantile inverts the function for a u in [0, 1).
func (c CDF) Quantile(u float64) float64 {
	i := sort.Search(len(c), func(i int) bool { return c[i].Probability > u })
	a, b := c[i-1], c[i] // a.Probability <= u < b.Probability
	share := (u - a.Probability) / (b.Probability - a.Probability)
	// The conversion forbids fusing the product into the sum.
	return a.Value + float64(share*(b.Value-a.Value))
}

// Mean is the mean of the straight-line function.
func (c CDF) Mean() float64 {
	var twice float64
	for i := 1; i < len(c); i++ {
		a, b := c[i-1], c[i]
		twice += float64((b.Probability - a.Probability) * (a.Value + b.Value))
	}
	return twice / 2
}

// Values says what the values of a table are.
type Values struct {
	Name  string // one word
	Form  string // such as "a size in bytes"
	Parse func(text string) (float64, error)
}

// maxTable is the most bytes of a table, far more than a distribution needs.
const maxTable = 4 << 20

// ReadCDF reads a table: a point a line, a value and then its cumulative
// probability, with a comma between them (and then, if the file wants, a header
// before the first point) or blanks, as in the files of HKUST-SING/TrafficGenerator.
// Empty lines and what follows a # are skipped. Errors begin with name and line.
func ReadCDF(name string, r io.Reader, values Values) (CDF, error) {
	var c CDF
	line := 0
	scan := bufio.NewScanner(bounded.Lines(r, maxTable, maxLine))
	for scan.Scan() {
		line++
		words, err := values.split(scan.Text())
		if err == nil && words != nil && !(c == nil && words[1] == "cdf") {
			c, err = c.parse(words[0], words[1], values)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	err := scan.Err()
	switch last := len(c) - 1; {
	case err != nil:
		return nil, fmt.Errorf("%s:%d: reading the table: %w", name, line+1, err)
	case last < 0:
		err = errors.New("the table has no points")
	case c[last].Probability != 1:
		err = fmt.Errorf("the table ends at probability %v: want 1", c[last].Probability)
	case c.Mean() == 0:
		err = fmt.Errorf("every %s in the table is zero", values.Name)
	default:
		return c, nil
	}
	return nil, fmt.Errorf("%s:%d: %w", name, max(1, line), err)
}

// split returns the two words of a line, or nil when it says nothing.
func (v Values) split(text string) ([]string, error) {
	text, _, _ = strings.Cut(text, "#")
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	words := strings.Fields(text)
	if value, probability, comma := strings.Cut(text, ","); comma {
		words = []string{strings.TrimSpace(value), strings.TrimSpace(probability)}
	}
	if len(words) != 2 {
		return nil, fmt.Errorf("%q is not a point: want %s and a cumulative probability", text, v.Form)
	}
	return words, nil
}

// parse appends a point that may follow the ones before it.
func (c CDF) parse(value, probability string, values Values) (CDF, error) {
	p := Point{}
	var err error
	if p.Value, err = values.Parse(value); err != nil {
		return nil, err
	}
	// Negated, the comparison refuses NaN as well.
	if p.Probability, err = strconv.ParseFloat(probability, 64); err != nil || !(p.Probability >= 0 && p.Probability <= 1) {
		return nil, fmt.Errorf("%q is not a cumulative probability from 0 to 1", probability)
	}
	if len(c) == 0 {
		if p.Probability != 0 {
			return nil, fmt.Errorf("the first point has probability %s: begin with the smallest %s and 0", probability, values.Name)
		}
		return CDF{p}, nil
	}
	before := c[len(c)-1]
	if p.Value < before.Value {
		return nil, fmt.Errorf("%s %s is below that on the point before", values.Name, value)
	}
	if p.Probability < before.Probability {
		return nil, fmt.Errorf("probability %s is below %v on the point before", probability, before.Probability)
	}
	return append(c, p), nil
}

// cdf is a distribution of sizes in bytes.
type cdf CDF

var _ Distribution = cdf(nil)

// Draw rounds to the nearest byte, which keeps the mean; a size below one byte
// becomes one.
func (c cdf) Draw(r *rand.Rand) int64 {
	return max(1, int64(math.Round(c.Quantile(r.Float64()))))
}

// Quantile inverts the function.
func (c cdf) Quantile(u float64) float64 { return CDF(c).Quantile(u) }

// Mean is the mean of the straight-line function, before rounding.
func (c cdf) Mean() float64 { return CDF(c).Mean() }

// parseCDF reads a table of sizes.
func parseCDF(name string, r io.Reader) (cdf, error) {
	c, err := ReadCDF(name, r, Values{Name: "size", Form: "a size in bytes", Parse: func(text string) (float64, error) {
		// Negated, the comparison refuses NaN as well.
		size, err := strconv.ParseFloat(text, 64)
		if err != nil || !(size >= 0 && size <= traffic.MaxBytes) {
			return 0, fmt.Errorf("%q is not a size in bytes from 0 to %d", text, int64(traffic.MaxBytes))
		}
		return size, nil
	}})
	return cdf(c), err
}
