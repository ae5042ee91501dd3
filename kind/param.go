package kind

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"

	"aqmlab/units"
)

// Param describes one parameter of a row.
type Param struct {
	Name    string
	Type    string // time, size, rate, number, yes/no, text, or a list of one of these
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

// decode writes raw over *p, refusing names that p does not have and values
// that do not parse. Names are compared without regard to case, because the
// configuration reader folds them.
func decode(raw map[string]any, p any) error {
	fields := structFields(reflect.ValueOf(p).Elem())
	for _, name := range slices.Sorted(keys(raw)) {
		f, ok := fields.find(name)
		if !ok {
			return &ParamError{name, fmt.Errorf("%w parameter: %s", ErrUnknown, fields.allowed())}
		}
		if err := decodeValue(raw[name], f.value.Addr().Interface()); err != nil {
			return &ParamError{name, err}
		}
	}
	return nil
}

func keys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func decodeValue(raw, into any) error {
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{Result: into, DecodeHook: Hook(), ErrorUnused: true})
	if err != nil {
		return fmt.Errorf("preparing to decode: %w", err)
	}
	if err := d.Decode(raw); err != nil {
		return plain(err)
	}
	return nil
}

// plain drops the decoder's own prefix, which names no parameter here.
func plain(err error) error {
	msg := err.Error()
	if i := strings.LastIndex(msg, "decoding failed due to the following error(s):\n\n"); i >= 0 {
		msg = strings.TrimSpace(msg[i+len("decoding failed due to the following error(s):\n\n"):])
	}
	msg = strings.TrimPrefix(msg, "'' ")
	return fmt.Errorf("%s", msg)
}

// Hook turns text into times and into any type that reads text, and refuses
// a bare number where a unit is needed.
func Hook() mapstructure.DecodeHookFunc {
	return mapstructure.ComposeDecodeHookFunc(withUnit, mapstructure.TextUnmarshallerHookFunc())
}

// withUnit reads times, and says for a bare number which unit is missing.
func withUnit(from, to reflect.Type, v any) (any, error) {
	switch to {
	case reflect.TypeFor[time.Duration]():
		if s, ok := v.(string); ok {
			return units.ParseTime(s)
		}
	case reflect.TypeFor[units.Rate](), reflect.TypeFor[units.Size]():
		if from.Kind() == reflect.String {
			return v, nil
		}
	default:
		return v, nil
	}
	if from == to {
		return v, nil
	}
	return nil, fmt.Errorf("%v has no unit: want %s", v, example(to))
}

func example(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "a time such as 250us or 10ms"
	case reflect.TypeFor[units.Rate]():
		return "a rate such as 10Gbps or 100Mbps"
	}
	return "a size such as 96KB or 2500B"
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

func (fs fields) allowed() string {
	if len(fs) == 0 {
		return "it takes none"
	}
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = f.name
	}
	return "want one of " + strings.Join(names, ", ")
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
	names := map[reflect.Type]string{
		reflect.TypeFor[time.Duration](): "time",
		reflect.TypeFor[units.Rate]():    "rate",
		reflect.TypeFor[units.Size]():    "size",
	}
	if n, ok := names[t]; ok {
		return n
	}
	switch t.Kind() {
	case reflect.Slice:
		return "list of " + typeName(t.Elem())
	case reflect.Bool:
		return "yes/no"
	case reflect.Int, reflect.Int64, reflect.Float64:
		return "number"
	}
	return "text"
}

// text prints a default as a lab would write it.
func text(v reflect.Value) string {
	if v.IsZero() && v.Kind() != reflect.Bool {
		return ""
	}
	return cmp.Or(fmt.Sprint(v.Interface()), "")
}
