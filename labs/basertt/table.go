package basertt

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"aqmlab/kind"
	"aqmlab/units"
)

// table reads a distribution of its own.
type table struct {
	File string `lab:"file" doc:"lines of an RTT such as 85us and a cumulative probability, with a comma between; # starts a comment line"`
}

// point says that an RTT is at most that many nanoseconds with that
// probability.
type point struct{ rtt, probability float64 }

func newTable(p table, _ struct{}) (Shape, error) {
	if p.File == "" {
		return nil, kind.Invalid("file", "missing: want the name of a file")
	}
	f, err := os.Open(p.File)
	if err != nil {
		return nil, kind.Invalid("file", "opening the table of RTTs: %w", err)
	}
	defer f.Close()
	points, err := readRTTs(f)
	if err != nil {
		return nil, kind.Invalid("file", "%s%w", p.File, err)
	}
	return interpolate(points), nil
}

// interpolate inverts the table, and maps its first RTT to 0 and its last to 1.
func interpolate(points []point) Shape {
	first, last := points[0].rtt, points[len(points)-1].rtt
	return func(u float64) float64 {
		// The first point whose probability is above u; the last one's is 1.
		i, _ := slices.BinarySearchFunc(points, u, func(p point, u float64) int {
			if p.probability > u {
				return 1
			}
			return -1
		})
		a, b := points[i-1], points[i]
		share := (u - a.probability) / (b.probability - a.probability)
		// The conversion forbids fusing the product into the sum.
		return (a.rtt - first + float64(share*(b.rtt-a.rtt))) / (last - first)
	}
}

// readRTTs reads a table. Errors begin with the line, behind a colon.
func readRTTs(from io.Reader) ([]point, error) {
	r := csv.NewReader(from)
	r.Comment, r.FieldsPerRecord, r.TrimLeadingSpace = '#', 2, true
	var points []point
	for {
		fields, err := r.Read()
		var malformed *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return points, wholeTable(points)
		case errors.As(err, &malformed):
			return nil, fmt.Errorf(":%d: want an RTT, a comma and a cumulative probability: %w", malformed.Line, malformed.Err)
		case err != nil:
			return nil, fmt.Errorf(": %w", err)
		}
		p, err := parsePoint(fields, points)
		if err != nil {
			line, _ := r.FieldPos(0)
			return nil, fmt.Errorf(":%d: %w", line, err)
		}
		points = append(points, p)
	}
}

// parsePoint reads a point that may follow those before it.
func parsePoint(fields []string, before []point) (point, error) {
	rtt, err := units.ParseTime(strings.TrimSpace(fields[0]))
	switch {
	case err != nil:
		return point{}, err
	case rtt < 0:
		return point{}, fmt.Errorf("%s is negative", units.FormatTime(rtt))
	}
	probability, err := strconv.ParseFloat(strings.TrimSpace(fields[1]), 64)
	if err != nil || !(probability >= 0 && probability <= 1) { // NaN is refused, too
		return point{}, fmt.Errorf("%q is not a cumulative probability from 0 to 1", fields[1])
	}
	p := point{float64(rtt), probability}
	if len(before) == 0 {
		return p, nil
	}
	if last := before[len(before)-1]; p.rtt < last.rtt || p.probability < last.probability {
		return point{}, errors.New("below the point before: neither RTTs nor probabilities may fall")
	}
	return p, nil
}

// wholeTable is the error for points that are no distribution over a range.
func wholeTable(points []point) error {
	if len(points) < 2 {
		return errors.New(": fewer than two points")
	}
	first, last := points[0], points[len(points)-1]
	switch {
	case first.probability != 0 || last.probability != 1:
		return errors.New(": want a first point of probability 0 and a last one of 1")
	case first.rtt == last.rtt:
		return errors.New(": one RTT is no range")
	}
	return nil
}
