package kind

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Text is a value from the environment or from --set. What it stands for depends
// on what it is read into: a file says with its syntax whether "4" is a number
// or a name.
type Text string

// ElementError blames one element of a list.
type ElementError struct {
	Index int
	Err   error
}

func (e *ElementError) Error() string { return fmt.Sprintf("[%d]: %v", e.Index, e.Err) }

func (e *ElementError) Unwrap() error { return e.Err }

// decode writes raw over the struct, refusing names that it does not have and
// values that do not fit.
func decode(raw map[string]any, into reflect.Value) error {
	fields := Fields(into.Type())
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		// The configuration reader folds names.
		i := slices.IndexFunc(fields, func(f Field) bool { return strings.EqualFold(f.Name, name) })
		if i < 0 {
			return &ParamError{name, unknownParam(name, fields)}
		}
		if err := fields[i].Decode(raw[name], into.Field(fields[i].Index)); err != nil {
			return &ParamError{name, err}
		}
	}
	return nil
}

// Decode reads a value of a lab file into a field of the struct, which it leaves
// alone if the value does not fit. It refuses what a looser decoder would bend
// into shape: a bare number where a unit is needed, a fraction where a whole
// number is.
func (f Field) Decode(raw any, into reflect.Value) error {
	if raw == nil {
		return errors.New("has no value")
	}
	if into.Kind() == reflect.Pointer { // a value that may be left out, zero not being that
		value := reflect.New(into.Type().Elem())
		if err := f.Decode(raw, value.Elem()); err != nil {
			return err
		}
		into.Set(value)
		return nil
	}
	if q, ok := quantityOf(into.Type()); ok {
		return f.quantity(q, raw, into)
	}
	if reader, ok := into.Addr().Interface().(encoding.TextUnmarshaler); ok {
		s, ok := AsText(raw)
		if !ok {
			return notA(raw, into.Type())
		}
		return reader.UnmarshalText([]byte(s))
	}
	switch {
	case into.Kind() == reflect.String:
		return f.line(raw, into)
	case into.Kind() == reflect.Bool:
		return truth(raw, into)
	case into.Kind() == reflect.Slice:
		return f.list(raw, into)
	case into.Kind() == reflect.Map:
		return mapping(raw, into)
	case into.CanFloat():
		return f.number(raw, into)
	}
	return f.whole(raw, into)
}

// notA says that v is no value of that type.
func notA(v any, want reflect.Type) error {
	name := TypeName(want)
	switch name {
	case "number", "whole number", "mapping":
		name = "a " + name
	}
	return fmt.Errorf("%s is not %s", Show(v), name)
}

// Show prints an offending value.
func Show(raw any) string {
	if s, ok := AsText(raw); ok {
		return strconv.Quote(s)
	}
	return fmt.Sprint(raw)
}

// AsText tells whether a value is text, and which.
func AsText(raw any) (string, bool) {
	switch v := raw.(type) {
	case string:
		return v, true
	case Text:
		return string(v), true
	}
	return "", false
}

// line reads one of the known names, or any text of one line.
func (f Field) line(raw any, into reflect.Value) error {
	s, ok := AsText(raw)
	switch {
	case !ok && slices.Contains(f.OneOf, Show(raw)):
		return fmt.Errorf("%s is a number: want it in quotes, %q", Show(raw), Show(raw))
	case !ok && f.OneOf != nil:
		return fmt.Errorf("%s is not text: want one of %s", Show(raw), strings.Join(f.OneOf, ", "))
	case !ok:
		return notA(raw, into.Type())
	case f.OneOf != nil && !slices.Contains(f.OneOf, s):
		return Unknown(f.Tag.Get("what"), s, f.OneOf)
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }):
		return fmt.Errorf("%s is not a line of printable text", Show(raw))
	}
	into.SetString(s)
	return nil
}

func truth(raw any, into reflect.Value) error {
	switch Show(raw) {
	case "true", `"true"`:
		into.SetBool(true)
	case "false", `"false"`:
		into.SetBool(false)
	default:
		return notA(raw, into.Type())
	}
	return nil
}

// list replaces the list that is there. The bounds are those of its elements.
func (f Field) list(raw any, into reflect.Value) error {
	items := reflect.ValueOf(raw)
	if items.Kind() != reflect.Slice {
		return fmt.Errorf("%v is not a list", raw)
	}
	made := reflect.MakeSlice(into.Type(), items.Len(), items.Len())
	for i := range items.Len() {
		if err := f.Decode(items.Index(i).Interface(), made.Index(i)); err != nil {
			return &ElementError{i, err}
		}
	}
	into.Set(made)
	return nil
}

// mapping takes a mapping as it is, for others to read.
func mapping(raw any, into reflect.Value) error {
	from, ok := raw.(map[string]any)
	if !ok {
		return notA(raw, into.Type())
	}
	into.Set(reflect.ValueOf(maps.Clone(from)))
	return nil
}

func (f Field) number(raw any, into reflect.Value) error {
	v, ok := asNumber(raw)
	switch {
	case !ok && f.Range != "":
		return fmt.Errorf("%w: want one in %s", notA(raw, into.Type()), f.Range)
	case !ok:
		return notA(raw, into.Type())
	case f.Range == "" && (math.IsNaN(v) || math.IsInf(v, 0)):
		return fmt.Errorf("%v is not a finite number", v)
	case f.Range != "":
		low, high := limits(f, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
		b := f.bounds()
		if !(v >= low && v <= high) || v == low && b.aboveLow || v == high && b.belowHigh { // NaN neither
			return fmt.Errorf("%v is outside %s", v, f.Range)
		}
	}
	into.SetFloat(v)
	return nil
}

func asNumber(raw any) (float64, bool) {
	if s, ok := raw.(Text); ok {
		v, err := strconv.ParseFloat(strings.TrimSpace(string(s)), 64)
		return v, err == nil
	}
	switch v := reflect.ValueOf(raw); {
	case v.CanFloat():
		return v.Float(), true
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	}
	return 0, false
}

func (f Field) whole(raw any, into reflect.Value) error {
	n, ok := asWhole(raw)
	switch v, isNumber := asNumber(raw); {
	case ok:
	case f.Range != "":
		b := f.bounds()
		return fmt.Errorf("%w from %s to %s", notA(raw, into.Type()), b.low, b.high)
	case isNumber && (math.IsNaN(v) || math.IsInf(v, 0)):
		return fmt.Errorf("%v is not a finite number", raw)
	default:
		return notA(raw, into.Type())
	}
	if f.Range != "" {
		low, high := limits(f, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
		if n < low || n > high {
			return fmt.Errorf("%d is outside %d to %d", n, low, high)
		}
	}
	switch {
	case into.CanInt() && !into.OverflowInt(n):
		into.SetInt(n)
	case into.CanUint() && n >= 0 && !into.OverflowUint(uint64(n)):
		into.SetUint(uint64(n))
	default:
		return fmt.Errorf("%v is out of range", raw)
	}
	return nil
}

// asWhole tells whether a value is a whole number that an int64 holds, and which.
func asWhole(raw any) (int64, bool) {
	if s, ok := raw.(Text); ok {
		n, err := strconv.ParseInt(strings.TrimSpace(string(s)), 10, 64)
		return n, err == nil
	}
	switch v := reflect.ValueOf(raw); {
	case v.CanInt():
		return v.Int(), true
	case v.CanUint() && v.Uint() <= math.MaxInt64:
		return int64(v.Uint()), true
	case v.CanFloat() && v.Float() == math.Trunc(v.Float()) && math.Abs(v.Float()) < 1<<53:
		return int64(v.Float()), true
	}
	return 0, false
}

// bounds is a range taken apart: both ends belong to it unless it says that they
// do not.
type bounds struct {
	low, high           string
	aboveLow, belowHigh bool
}

func (f Field) bounds() bounds {
	separator := ".."
	if strings.ContainsAny(f.Range, "([") {
		separator = ", "
	}
	low, high, ok := strings.Cut(strings.Trim(f.Range, "()[]"), separator)
	if !ok {
		panic(fmt.Sprintf("%s: %q is not a range", f.Name, f.Range))
	}
	return bounds{low, high, strings.HasPrefix(f.Range, "("), strings.HasSuffix(f.Range, ")")}
}

// limits are the ends of the field's range. That they can be parsed is up to
// whoever wrote the tag.
func limits[T any](f Field, parse func(string) (T, error)) (low, high T) {
	b := f.bounds()
	low, lowErr := parse(b.low)
	high, highErr := parse(b.high)
	if err := errors.Join(lowErr, highErr); err != nil {
		panic(fmt.Sprintf("the range of %s: %v", f.Name, err))
	}
	return low, high
}

// quantity reads a number with a unit.
func (f Field) quantity(q quantity, raw any, into reflect.Value) error {
	if reflect.TypeOf(raw) == into.Type() {
		into.Set(reflect.ValueOf(raw))
		return nil
	}
	s, ok := AsText(raw)
	if !ok {
		return fmt.Errorf("%v has no unit: want a %s such as %s", raw, q.name, cmp.Or(f.Tag.Get("example"), q.example))
	}
	v, err := q.parse(s)
	if err != nil {
		return err
	}
	if f.Range != "" {
		low, high := limits(f, q.parse)
		if v < low || v > high {
			show := func(v int64) any { return Encode(reflect.ValueOf(v).Convert(into.Type())) }
			return fmt.Errorf("%v is outside %v to %v", show(v), show(low), show(high))
		}
	}
	into.SetInt(v)
	return nil
}
