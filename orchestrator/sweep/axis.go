package sweep

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// Group is axes that change together: each row has a value for every key. Groups are
// crossed: every row of one goes with every row of the others.
type Group struct {
	Keys []string // of labs, such as workload.load or schemes.tcn.threshold
	Rows [][]string
}

// maxValues is how many values an axis may have.
const maxValues = 10_000

// ParseGroup reads "key=values", or several of them with the word with between, which
// must have equally many values. Values are a list (50us,78us), whole numbers (1..5), a
// range with a step (0.1..0.9/0.1), or one with a factor (10us..640us*2); a value that
// has commas stands in brackets.
func ParseGroup(text string) (Group, error) {
	var g Group
	for axis := range strings.SplitSeq(text, " with ") {
		if err := g.Join(axis); err != nil {
			return Group{}, err
		}
	}
	return g, nil
}

// Join adds an axis, "key=values", that changes with the others of the group.
func (g *Group) Join(axis string) error {
	key, list, ok := strings.Cut(strings.TrimSpace(axis), "=")
	if !ok || key == "" || list == "" {
		return fmt.Errorf("axis %q: want key=values, such as workload.load=0.1..0.9/0.1", axis)
	}
	if slices.Contains(g.Keys, key) {
		return fmt.Errorf("axis %s stands there twice", key)
	}
	values, err := Values(list)
	switch {
	case err != nil:
		return fmt.Errorf("axis %s: %w", key, err)
	case len(g.Keys) > 0 && len(values) != len(g.Rows):
		return fmt.Errorf("axis %s has %d values, and %s, which it changes with, has %d", key, len(values), g.Keys[0], len(g.Rows))
	case len(g.Keys) == 0:
		g.Rows = make([][]string, len(values))
	}
	g.Keys = append(g.Keys, key)
	for i, v := range values {
		g.Rows[i] = append(g.Rows[i], v)
	}
	return nil
}

// parsePoint reads one row of a group whose points are listed: "key=value key=value".
func parsePoint(text string) (keys, row []string, err error) {
	for field := range strings.FieldsSeq(text) {
		key, value, ok := strings.Cut(field, "=")
		if !ok || key == "" || value == "" || slices.Contains(keys, key) {
			return nil, nil, fmt.Errorf("point %q: want key=value for different keys, with a space between", text)
		}
		keys, row = append(keys, key), append(row, value)
	}
	if keys == nil {
		return nil, nil, errors.New("an empty point: want key=value for different keys, with a space between")
	}
	return keys, row, nil
}

// Values lists the values of an axis: see [ParseGroup]. None may stand there twice.
func Values(text string) ([]string, error) {
	var values []string
	for _, part := range splitList(text) {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil, fmt.Errorf("%q has an empty value", text)
		}
		if !strings.Contains(part, "..") {
			values = append(values, part)
			continue
		}
		steps, err := readRange(part)
		if err != nil {
			return nil, err
		}
		values = append(values, steps...)
	}
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return nil, fmt.Errorf("the value %s stands there twice", v)
		}
	}
	return values, nil
}

// splitList splits at the commas outside brackets.
func splitList(text string) (parts []string) {
	depth, begin := 0, 0
	for i, c := range text {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts, begin = append(parts, text[begin:i]), i+1
			}
		}
	}
	return append(parts, text[begin:])
}

// quantity is a number and its unit.
type quantity struct {
	*big.Rat
	unit   string
	digits int // behind the point
}

// readQuantity reads a number with or without a unit.
func readQuantity(text string) (quantity, error) {
	parts := regexp.MustCompile(`^(-?\d+(?:\.(\d+))?)([A-Za-z]*)$`).FindStringSubmatch(text)
	if parts == nil {
		return quantity{}, fmt.Errorf("%q is no number with a unit", text)
	}
	value, _ := new(big.Rat).SetString(parts[1])
	return quantity{value, parts[3], len(parts[2])}, nil
}

// readRange lists a..b, a..b/step or a..b*factor. Numbers are exact, so that 0.3 is 0.3.
func readRange(text string) ([]string, error) {
	wrong := func(why string) ([]string, error) {
		return nil, fmt.Errorf("range %s: %s: want 1..5, 0.1..0.9/0.1, 50us..250us/50us or 10us..640us*2", text, why)
	}
	from, rest, _ := strings.Cut(text, "..")
	to, by, grows := strings.Cut(rest, "*")
	step := "1"
	if !grows {
		var given bool
		if to, step, given = strings.Cut(rest, "/"); !given {
			step = "1"
		}
		by = step
	}
	var q [3]quantity
	for i, part := range []string{from, to, by} {
		var err error
		if q[i], err = readQuantity(part); err != nil {
			return wrong(err.Error())
		}
	}
	a, b, by3 := q[0], q[1], q[2]
	one := big.NewRat(1, 1)
	switch {
	case a.unit != b.unit || !grows && by3.unit != a.unit || grows && by3.unit != "":
		return wrong("the units differ")
	case a.Cmp(b.Rat) > 0:
		return wrong("it ends before it begins")
	case !grows && by3.Sign() <= 0 || grows && (by3.Cmp(one) <= 0 || a.Sign() <= 0):
		return wrong("it never ends")
	}
	var values []string
	for at := new(big.Rat).Set(a.Rat); at.Cmp(b.Rat) <= 0; {
		if len(values) == maxValues {
			return wrong(fmt.Sprintf("more than %d values", maxValues))
		}
		values = append(values, decimal(at)+a.unit)
		if grows {
			at.Mul(at, by3.Rat)
		} else {
			at.Add(at, by3.Rat)
		}
	}
	return values, nil
}

// decimal writes a number with at most six digits behind the point, and none in vain.
func decimal(r *big.Rat) string {
	text := r.FloatString(6)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
