package kind

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"aqmlab/units"
)

// Param describes one parameter of a row.
type Param struct {
	Name    string
	Type    string // time, size, rate, number, whole number, true or false, text, mapping, or a list of one of these
	Default string // as a lab would write it; empty when there is none
	Doc     string
}

// ParamError is a parameter that does not fit; it lets a caller point at the
// line that holds the parameter.
type ParamError struct {
	Param string // empty when no single parameter is to blame
	Err   error
}

func (e *ParamError) Error() string {
	if e.Param == "" {
		return e.Err.Error()
	}
	return e.Param + ": " + e.Err.Error()
}

func (e *ParamError) Unwrap() error { return e.Err }

// Invalid is the error of a constructor for a parameter out of its range.
func Invalid(param, format string, args ...any) error {
	return &ParamError{param, fmt.Errorf(format, args...)}
}

// field is one parameter in its struct.
type field struct {
	name, doc string
	value     reflect.Value
}

type fields []field

func structFields(v reflect.Value) fields {
	var fs fields
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		if name := tag.Get("lab"); name != "" {
			fs = append(fs, field{name, tag.Get("doc"), v.Field(i)})
		}
	}
	return fs
}

func (fs fields) find(name string) (field, bool) {
	i := slices.IndexFunc(fs, func(f field) bool { return strings.EqualFold(f.name, name) })
	if i < 0 {
		return field{}, false
	}
	return fs[i], true
}

func (fs fields) unknown(name string) error {
	if len(fs) == 0 {
		return fmt.Errorf("%w parameter: it takes none", ErrUnknown)
	}
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = f.name
	}
	return fmt.Errorf("%w parameter: %s", ErrUnknown, oneOf(name, names))
}

func describe(p any) []Param {
	v := reflect.New(reflect.TypeOf(p)).Elem()
	v.Set(reflect.ValueOf(p))
	var ps []Param
	for _, f := range structFields(v) {
		ps = append(ps, Param{Name: f.name, Type: typeName(f.value.Type()), Default: text(f.value), Doc: f.doc})
	}
	return ps
}

func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "time"
	case reflect.TypeFor[units.Rate]():
		return "rate"
	case reflect.TypeFor[units.Size]():
		return "size"
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "text"
	}
	switch v := reflect.Zero(t); {
	case t.Kind() == reflect.Slice:
		return "list of " + typeName(t.Elem())
	case t.Kind() == reflect.Map:
		return "mapping"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case v.CanInt(), v.CanUint():
		return "whole number"
	case v.CanFloat():
		return "number"
	}
	return "text"
}

// text prints a default as a lab would write it.
func text(v reflect.Value) string {
	if v.IsZero() && v.Kind() != reflect.Bool {
		return ""
	}
	if v.Kind() == reflect.Slice {
		items := make([]string, v.Len())
		for i := range items {
			items[i] = fmt.Sprint(v.Index(i).Interface())
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	if d, ok := v.Interface().(time.Duration); ok {
		return units.FormatTime(d)
	}
	return fmt.Sprint(v.Interface())
}
