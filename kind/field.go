package kind

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"

	"aqmlab/units"
)

// Param describes one value that a lab may set: a parameter of a row, or a key
// of the lab itself.
type Param struct {
	Name    string `json:"name"`
	Type    string `json:"type"`    // time, size, rate, number, whole number, true or false, text, mapping, or a list of one of these
	Default string `json:"default"` // as a lab would write it; empty when there is none
	Doc     string `json:"doc"`

	Range string   `json:"-"`              // what its tag says: "1us..120s", "(0, 1]"; empty when every value of the type will do
	OneOf []string `json:"-"`              // the names that it may be; nil when it is no such name
	Only  string   `json:"-"`              // the one sort of host that follows it; empty when all do
	Tune  string   `json:"tune,omitempty"` // the range that a search for a good value covers: "0.1rtt..4rtt", "0.1bdp..4bdp", "0..0.9"; empty when it is not searched
	Kinds string   `json:"-"`              // the table of what a mapping chooses from; empty when it is no choice
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

// Field is a tagged field of a struct. A pointer is to a value that may be left out where
// zero says something. These are the tags:
//
//	lab      the name in a lab file
//	doc      what it means
//	range    the values that it may have: "1us..120s" with both ends, "(0, 1]"
//	oneof    the names that it may be, with commas between; without, what the
//	         method OneOf of its type says, if it has one
//	what     what such a name stands for, as errors say it
//	example  values of a quantity, for errors; without, those of its type
//	only     the sort of hosts that follow it
//	tune     the range in which aqmlab tune searches, of base RTTs (rtt), bandwidth-delay
//	         products (bdp), or plain
//	kinds    of a mapping: the table that it chooses from
type Field struct {
	Param
	Index int // in the struct
	Tag   reflect.StructTag
	Go    reflect.Type
}

// Fields lists the tagged fields of a struct.
func Fields(t reflect.Type) []Field {
	var fields []Field
	for i := range t.NumField() {
		f := t.Field(i)
		name, ok := f.Tag.Lookup("lab")
		if !ok {
			continue
		}
		made := Field{Index: i, Tag: f.Tag, Go: f.Type, Param: Param{
			Name: name, Type: TypeName(f.Type), Doc: f.Tag.Get("doc"),
			Range: f.Tag.Get("range"), Only: f.Tag.Get("only"), Tune: f.Tag.Get("tune"), Kinds: f.Tag.Get("kinds"),
		}}
		if names := f.Tag.Get("oneof"); names != "" {
			made.OneOf = strings.Split(names, ",")
		} else if t, ok := reflect.Zero(f.Type).Interface().(interface{ OneOf() []string }); ok {
			made.OneOf = t.OneOf()
		}
		fields = append(fields, made)
	}
	return fields
}

// describe lists the parameters of a row with those defaults.
func describe(defaults reflect.Value) []Param {
	params := []Param{} // none are no null in JSON
	for _, f := range Fields(defaults.Type()) {
		f.Default = text(defaults.Field(f.Index))
		params = append(params, f.Param)
	}
	return params
}

func unknownParam(name string, fields []Field) error {
	if len(fields) == 0 {
		return fmt.Errorf("%w parameter: it takes none", ErrUnknown)
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return fmt.Errorf("%w parameter: %s", ErrUnknown, oneOf(name, names))
}

// TypeName is what a type is called where a lab is documented, see [Param].
func TypeName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if q, ok := quantityOf(t); ok {
		return q.name
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "text"
	}
	switch v := reflect.Zero(t); {
	case t.Kind() == reflect.Slice:
		return "list of " + TypeName(t.Elem())
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
			items[i] = fmt.Sprint(Encode(v.Index(i)))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(Encode(v))
}

// Encode is a value as YAML has it in a lab file: quantities are text.
func Encode(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if d, ok := v.Interface().(time.Duration); ok {
		return units.FormatTime(d)
	}
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return s.String()
	}
	if v.Kind() == reflect.Slice {
		items := make([]any, v.Len())
		for i := range items {
			items[i] = Encode(v.Index(i))
		}
		return items
	}
	return v.Interface()
}

// quantity is a type whose values have a unit, in whole base units.
type quantity struct {
	name, example string
	parse         func(string) (int64, error)
}

func quantityOf(t reflect.Type) (quantity, bool) {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return quantity{"time", "250us or 10ms", inBaseUnits(units.ParseTime)}, true
	case reflect.TypeFor[units.Rate]():
		return quantity{"rate", "10Gbps or 100Mbps", inBaseUnits(units.ParseRate)}, true
	case reflect.TypeFor[units.Size]():
		return quantity{"size", "96KB or 2500B", inBaseUnits(units.ParseSize)}, true
	}
	return quantity{}, false
}

func inBaseUnits[T ~int64](parse func(string) (T, error)) func(string) (int64, error) {
	return func(s string) (int64, error) {
		v, err := parse(s)
		return int64(v), err
	}
}
