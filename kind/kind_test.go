package kind_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// tank is a kind with a parameter of every type.
type tank struct {
	Wait    time.Duration   `lab:"wait" doc:"a time"`
	Size    units.Size      `lab:"size" doc:"a size"`
	Rate    units.Rate      `lab:"rate" doc:"a rate"`
	Share   float64         `lab:"share" doc:"a number"`
	Count   int             `lab:"count" doc:"a whole number"`
	Seed    uint            `lab:"seed" doc:"a whole number above zero"`
	ECN     bool            `lab:"ecn" doc:"a choice"`
	Label   string          `lab:"label" doc:"a text"`
	Mode    mode            `lab:"mode" doc:"a type that reads text"`
	Weights []int           `lab:"weights" doc:"a list"`
	Times   []time.Duration `lab:"times" doc:"a list of times"`
	Tap     map[string]any  `lab:"tap" doc:"a mapping"`
	Hidden  int             // not a parameter
}

type mode string

func (m *mode) UnmarshalText(b []byte) error {
	if string(b) != "fast" && string(b) != "slow" {
		return fmt.Errorf("%q is neither fast nor slow", b)
	}
	*m = mode(b)
	return nil
}

func defaults() tank {
	return tank{
		Wait: 250 * time.Microsecond, Size: 96 * units.KB, Rate: 10 * units.Gbps, Share: 0.5, ECN: true, Mode: "slow",
		Weights: []int{4, 2, 1}, Hidden: 7,
	}
}

var errEnv = errors.New("no such environment")

func table() kind.Table[int, tank] {
	build := func(p tank, env int) (tank, error) {
		if env < 0 {
			return tank{}, errEnv
		}
		if p.Count < 0 {
			return tank{}, kind.Invalid("count", "%d is negative", p.Count)
		}
		return p, nil
	}
	return kind.Table[int, tank]{
		kind.Row("tank", "holds water", defaults(), build),
		kind.Row("bare", "takes no parameters", struct{}{}, func(struct{}, int) (tank, error) { return tank{Label: "bare"}, nil }),
	}
}

func TestNewWritesOverDefaults(t *testing.T) {
	got, err := table().New("tank", map[string]any{
		"wait": "1.5ms", "size": "2500B", "rate": "1Gbps", "share": 1, "count": 3.0, "seed": 9, "ecn": false,
		"label": "x", "mode": "fast", "weights": []any{1, 2.0}, "TIMES": []any{"1us", "2 ms"},
	}, 0)
	want := tank{
		Wait: 1500 * time.Microsecond, Size: 2500, Rate: units.Gbps, Share: 1, Count: 3, Seed: 9, Label: "x", Mode: "fast",
		Weights: []int{1, 2}, Times: []time.Duration{time.Microsecond, 2 * time.Millisecond}, Hidden: 7,
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("New = %+v, %v; want %+v", got, err, want)
	}
}

func TestNewWithoutParametersGivesDefaults(t *testing.T) {
	got, err := table().New("tank", nil, 0)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(defaults()) {
		t.Errorf("New = %+v, %v; want %+v", got, err, defaults())
	}
	if got, err := table().New("bare", map[string]any{}, 0); err != nil || got.Label != "bare" {
		t.Errorf("New = %+v, %v; want the bare one", got, err)
	}
}

// A shorter list of one lab neither keeps the tail of the default nor leaks
// into the default of the next.
func TestListsReplaceTheDefault(t *testing.T) {
	k := table()
	if got, err := k.New("tank", map[string]any{"weights": []any{9}}, 0); err != nil || !slices.Equal(got.Weights, []int{9}) {
		t.Errorf("weights = %v, %v; want [9]", got.Weights, err)
	}
	if got, err := k.New("tank", nil, 0); err != nil || !slices.Equal(got.Weights, []int{4, 2, 1}) {
		t.Errorf("default weights = %v, %v; want [4 2 1]", got.Weights, err)
	}
}

func TestNewRefuses(t *testing.T) {
	nan := 0.0
	nan /= nan
	tests := []struct {
		param string
		value any
		want  string
	}{
		{"wait", 250, `250 has no unit: want a time such as 250us or 10ms`},
		{"wait", "0", `"0" is not a time: want one such as 250us, 10ms or 1.5s`},
		{"wait", "soon", `"soon" is not a time: want one such as 250us, 10ms or 1.5s`},
		{"size", 96000, `96000 has no unit: want a size such as 96KB or 2500B`},
		{"size", "10Gbps", `"10Gbps" is not a size such as 96KB, 2500B, 1MB or 64KiB`},
		{"size", true, `true has no unit: want a size such as 96KB or 2500B`},
		{"rate", 1e9, `1e+09 has no unit: want a rate such as 10Gbps or 100Mbps`},
		{"share", "half", `"half" is not a number`},
		{"share", nan, `NaN is not a finite number`},
		{"share", nil, `has no value`},
		{"count", 1.5, `1.5 is not a whole number`},
		{"count", "three", `"three" is not a whole number`},
		{"count", -1, `-1 is negative`},
		{"seed", -1, `-1 is out of range`},
		{"ecn", "yes", `"yes" is not true or false`},
		{"label", 3, `3 is not text`},
		{"mode", "medium", `"medium" is neither fast nor slow`},
		{"weights", 3, `3 is not a list`},
		{"tap", "open", `"open" is not a mapping`},
		{"weights", []any{1, "two", "three"}, `[1]: "two" is not a whole number`},
		{"weights", []any{1, 2.5}, `[1]: 2.5 is not a whole number`},
		{"times", []any{"1us", 2}, `[1]: 2 has no unit: want a time such as 250us or 10ms`},
		{"wiat", "1ms", `unknown parameter: want one of wait, size, rate, share, count, seed, ecn, label, mode, weights, times, tap (did you mean wait?)`},
		{"hidden", 1, `unknown parameter: want one of wait, size, rate, share, count, seed, ecn, label, mode, weights, times, tap`},
	}
	for _, tt := range tests {
		_, err := table().New("tank", map[string]any{tt.param: tt.value}, 0)
		if want := "tank: " + tt.param + ": " + tt.want; err == nil || err.Error() != want {
			t.Errorf("%s = %v:\n got %v\nwant %s", tt.param, tt.value, err, want)
		}
		var pe *kind.ParamError
		if !errors.As(err, &pe) || pe.Param != tt.param {
			t.Errorf("%s = %v: the error names parameter %+v", tt.param, tt.value, pe)
		}
	}
}

func TestNewPassesConstructorErrors(t *testing.T) {
	_, err := table().New("tank", nil, -1)
	if !errors.Is(err, errEnv) || err.Error() != "tank: no such environment" {
		t.Errorf("New = %v", err)
	}
	_, err = table().New("bare", map[string]any{"x": 1}, 0)
	if !errors.Is(err, kind.ErrUnknown) || err.Error() != "bare: x: unknown parameter: it takes none" {
		t.Errorf("New = %v", err)
	}
}

func TestFind(t *testing.T) {
	if got := table().Names(); !slices.Equal(got, []string{"tank", "bare"}) {
		t.Errorf("Names = %v", got)
	}
	if k, err := table().Find("bare"); err != nil || k.Doc != "takes no parameters" || len(k.Params) != 0 {
		t.Errorf("Find = %+v, %v", k, err)
	}
	for name, want := range map[string]string{
		"tnak":  `unknown kind "tnak": want one of tank, bare (did you mean tank?)`,
		"Tank":  `unknown kind "Tank": want one of tank, bare (did you mean tank?)`,
		"plane": `unknown kind "plane": want one of tank, bare`,
		"":      `unknown kind "": want one of tank, bare`,
	} {
		if _, err := table().Find(name); !errors.Is(err, kind.ErrUnknown) || err.Error() != want {
			t.Errorf("Find(%q) = %v, want %s", name, err, want)
		}
		if _, err := table().New(name, nil, 0); !errors.Is(err, kind.ErrUnknown) {
			t.Errorf("New(%q) = %v, want ErrUnknown", name, err)
		}
	}
}

func TestParams(t *testing.T) {
	k, err := table().Find("tank")
	if err != nil {
		t.Fatal(err)
	}
	want := []kind.Param{
		{Name: "wait", Type: "time", Default: "250us", Doc: "a time"},
		{Name: "size", Type: "size", Default: "96KB", Doc: "a size"},
		{Name: "rate", Type: "rate", Default: "10Gbps", Doc: "a rate"},
		{Name: "share", Type: "number", Default: "0.5", Doc: "a number"},
		{Name: "count", Type: "whole number", Default: "", Doc: "a whole number"},
		{Name: "seed", Type: "whole number", Default: "", Doc: "a whole number above zero"},
		{Name: "ecn", Type: "true or false", Default: "true", Doc: "a choice"},
		{Name: "label", Type: "text", Default: "", Doc: "a text"},
		{Name: "mode", Type: "text", Default: "slow", Doc: "a type that reads text"},
		{Name: "weights", Type: "list of whole number", Default: "[4, 2, 1]", Doc: "a list"},
		{Name: "times", Type: "list of time", Default: "", Doc: "a list of times"},
		{Name: "tap", Type: "mapping", Default: "", Doc: "a mapping"},
	}
	if !reflect.DeepEqual(k.Params, want) {
		t.Errorf("Params:\n got %v\nwant %v", k.Params, want)
	}
}

func TestParamErrorWithoutParam(t *testing.T) {
	err := kind.Invalid("", "%w", errEnv)
	if err.Error() != "no such environment" || !errors.Is(err, errEnv) {
		t.Errorf("Invalid = %v", err)
	}
}
