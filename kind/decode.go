package kind

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/go-viper/mapstructure/v2"

	"aqmlab/units"
)

// decode writes raw over *p, refusing names that p does not have and values
// that do not parse. Names are compared without regard to case, because the
// configuration reader folds them.
func decode(raw map[string]any, p any) error {
	fields := structFields(reflect.ValueOf(p).Elem())
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		f, ok := fields.find(name)
		if !ok {
			return &ParamError{name, fields.unknown(name)}
		}
		if err := decodeValue(raw[name], f.value); err != nil {
			return &ParamError{name, err}
		}
	}
	return nil
}

// decodeValue writes raw into the field. It clears the field first: a list of
// the lab replaces the default one instead of being laid over it.
func decodeValue(raw any, into reflect.Value) error {
	if raw == nil {
		return errors.New("has no value")
	}
	if into.Kind() == reflect.Map && reflect.TypeOf(raw).Kind() != reflect.Map {
		return notA(raw, into.Type())
	}
	if into.Kind() == reflect.Slice && reflect.TypeOf(raw).Kind() != reflect.Slice {
		return fmt.Errorf("%v is not a list", raw)
	}
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result:     into.Addr().Interface(),
		DecodeHook: Hook(),
		ZeroFields: true,
	})
	if err != nil {
		return fmt.Errorf("preparing to decode: %w", err)
	}
	if err := d.Decode(raw); err != nil {
		return plain(err)
	}
	return nil
}

// plain strips the decoder's own words. What a hook said stays; a mismatch of
// types is told in the words of [Param.Type]. Of several bad elements of a list
// it keeps the first.
func plain(err error) error {
	var at *mapstructure.DecodeError
	if !errors.As(err, &at) {
		return err
	}
	inner := at.Unwrap()
	var mismatch *mapstructure.UnconvertibleTypeError
	var overflow *mapstructure.ParseError
	switch {
	case errors.As(inner, &mismatch):
		inner = notA(mismatch.Value, mismatch.Expected.Type())
	case errors.As(inner, &overflow):
		inner = fmt.Errorf("%v is out of range", overflow.Value)
	}
	if at.Name() == "" {
		return inner
	}
	return fmt.Errorf("%s: %w", at.Name(), inner)
}

// notA says that v is no value of that type.
func notA(v any, want reflect.Type) error {
	if s, ok := v.(string); ok {
		v = strconv.Quote(s)
	}
	name := typeName(want)
	switch name {
	case "number", "whole number", "mapping":
		name = "a " + name
	}
	return fmt.Errorf("%v is not %s", v, name)
}

// Hook turns text into times and into any type that reads text, and refuses
// what a plain decoder would bend into shape: a bare number where a unit is
// needed, a fraction where a whole number is, and numbers that are not finite.
func Hook() mapstructure.DecodeHookFunc {
	return mapstructure.ComposeDecodeHookFunc(withUnit, exactNumber, mapstructure.TextUnmarshallerHookFunc())
}

// withUnit reads times, and says for a bare number which unit is missing.
func withUnit(from, to reflect.Type, v any) (any, error) {
	if example(to) == "" || from == to {
		return v, nil
	}
	if from.Kind() != reflect.String {
		return nil, fmt.Errorf("%v has no unit: want %s", v, example(to))
	}
	if to == reflect.TypeFor[time.Duration]() {
		return units.ParseTime(reflect.ValueOf(v).String())
	}
	return v, nil
}

// example is empty for a type that has no unit.
func example(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "a time such as 250us or 10ms"
	case reflect.TypeFor[units.Rate]():
		return "a rate such as 10Gbps or 100Mbps"
	case reflect.TypeFor[units.Size]():
		return "a size such as 96KB or 2500B"
	}
	return ""
}

func exactNumber(from, to reflect.Value) (any, error) {
	v := from.Interface()
	if !from.CanFloat() {
		return v, nil
	}
	f := from.Float()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%v is not a finite number", f)
	}
	if (to.CanInt() || to.CanUint()) && f != math.Trunc(f) {
		return nil, fmt.Errorf("%v is not a whole number", f)
	}
	return v, nil
}
