package labs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"aqmlab/kind"
	"aqmlab/units"
)

// codec reads the value of a key into a field of the lab, refusing what is
// impossible, and writes the field back as a lab file has it.
type codec struct {
	read  func(value any) error
	write func() any // nil leaves the key out
}

// text is a value from the environment or --set. What it stands for depends on
// the key: a file says with its syntax whether "4" is a number or a name.
type text string

// elementError blames one element of a list.
type elementError struct {
	index int
	err   error
}

func (e *elementError) Error() string { return e.err.Error() }

// show prints an offending value.
func show(value any) string {
	switch v := value.(type) {
	case string:
		return strconv.Quote(v)
	case text:
		return strconv.Quote(string(v))
	}
	return fmt.Sprint(value)
}

func asString(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case text:
		return string(v), true
	}
	return "", false
}

// line is any text of one line.
func line(dst *string) codec {
	read := func(value any) error {
		s, ok := asString(value)
		if !ok {
			return fmt.Errorf("%s is not text", show(value))
		}
		if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
			return fmt.Errorf("%s is not a line of printable text", show(value))
		}
		*dst = s
		return nil
	}
	return codec{read, func() any {
		if *dst == "" {
			return nil
		}
		return *dst
	}}
}

// label is a name that is fit for folders and commands, too.
func label(dst *string) codec {
	return codec{func(value any) error {
		s, ok := asString(value)
		if !ok || !isLabel(s) {
			return fmt.Errorf("%s is not a name: want lower-case letters, digits and hyphens, at most 64", show(value))
		}
		*dst = s
		return nil
	}, func() any { return *dst }}
}

func isLabel(s string) bool {
	return s != "" && len(s) <= 64 && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// oneOf is one of the known names; what says what they stand for.
func oneOf(dst *string, what string, known []string) codec {
	return codec{func(value any) error {
		s, ok := asString(value)
		if !ok {
			return fmt.Errorf("%s is not text: want one of %s", show(value), strings.Join(known, ", "))
		}
		if !slices.Contains(known, s) {
			return kind.Unknown(what, s, known)
		}
		*dst = s
		return nil
	}, func() any { return *dst }}
}

// nameOf makes the codec of one of the known names.
func nameOf(what string, known ...string) func(*string) codec {
	return func(dst *string) codec { return oneOf(dst, what, known) }
}

// whole is a whole number from low to high, neither of which exceeds an int64.
func whole[T int | uint64](dst *T, low, high T) codec {
	return codec{func(value any) error {
		n, ok := asWhole(value)
		if !ok {
			return fmt.Errorf("%s is not a whole number from %d to %d", show(value), low, high)
		}
		if n < int64(low) || n > int64(high) {
			return fmt.Errorf("%d is outside %d to %d", n, low, high)
		}
		*dst = T(n)
		return nil
	}, func() any { return *dst }}
}

func asWhole(value any) (int64, bool) {
	switch v := value.(type) {
	case int:
		return int64(v), true
	case text:
		n, err := strconv.ParseInt(strings.TrimSpace(string(v)), 10, 64)
		return n, err == nil
	}
	return 0, false
}

// number is a number for which within holds; want says which those are.
func number(dst *float64, within func(float64) bool, want string) codec {
	return codec{func(value any) error {
		f, ok := asNumber(value)
		if !ok {
			return fmt.Errorf("%s is not a number: want one in %s", show(value), want)
		}
		if !within(f) {
			return fmt.Errorf("%v is outside %s", f, want)
		}
		*dst = f
		return nil
	}, func() any { return *dst }}
}

func asNumber(value any) (float64, bool) {
	switch v := value.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case text:
		f, err := strconv.ParseFloat(strings.TrimSpace(string(v)), 64)
		return f, err == nil
	}
	return 0, false
}

// fraction is a number in (0, 1].
func fraction(dst *float64) codec {
	return number(dst, func(f float64) bool { return f > 0 && f <= 1 }, "(0, 1]")
}

// factor is a number above 0, of at most 1000.
func factor(dst *float64) codec {
	return number(dst, func(f float64) bool { return f > 0 && f <= 1000 }, "(0, 1000]")
}

// optional leaves the key out of a written lab where the value is zero, which
// the key itself cannot be.
func optional[T comparable](dst *T, of func(*T) codec) codec {
	c := of(dst)
	return codec{c.read, func() any {
		var zero T
		if *dst == zero {
			return nil
		}
		return c.write()
	}}
}

// written leaves the key out of a written lab unless it is wanted there.
func written(c codec, wanted bool) codec {
	if wanted {
		return c
	}
	return codec{c.read, func() any { return nil }}
}

// flag is true or false.
func flag(dst *bool) codec {
	return codec{func(value any) error {
		switch show(value) {
		case "true", `"true"`:
			*dst = true
		case "false", `"false"`:
			*dst = false
		default:
			return fmt.Errorf("%s is not true or false", show(value))
		}
		return nil
	}, func() any { return *dst }}
}

// quantity is a number with a unit, from low to high.
type quantity[T ~int64] struct {
	parse     func(string) (T, error)
	print     func(T) string
	example   string
	low, high T
}

func (q quantity[T]) codec(dst *T) codec {
	return codec{func(value any) error {
		s, ok := asString(value)
		if !ok {
			return fmt.Errorf("%s has no unit: want %s", show(value), q.example)
		}
		v, err := q.parse(s)
		if err != nil {
			return err
		}
		if v < q.low || v > q.high {
			return fmt.Errorf("%s is outside %s to %s", q.print(v), q.print(q.low), q.print(q.high))
		}
		*dst = v
		return nil
	}, func() any { return q.print(*dst) }}
}

// The rates that a link may have.
const (
	slowest = units.Kbps
	fastest = 100_000 * units.Gbps
)

func rate(dst *units.Rate) codec {
	return quantity[units.Rate]{units.ParseRate, units.Rate.String, "a rate such as 10Gbps or 100Mbps", slowest, fastest}.codec(dst)
}

func size(dst *units.Size) codec {
	const low, high = units.Byte, units.GB
	return quantity[units.Size]{units.ParseSize, units.Size.String, "a size such as 96KB or 2500B", low, high}.codec(dst)
}

// spanOf makes the codec of a time from low to high.
func spanOf(low, high time.Duration) func(*time.Duration) codec {
	return func(dst *time.Duration) codec { return span(dst, low, high) }
}

func span(dst *time.Duration, low, high time.Duration) codec {
	return quantity[time.Duration]{units.ParseTime, units.FormatTime, "a time such as 250us or 10ms", low, high}.codec(dst)
}
