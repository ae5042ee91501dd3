package labs_test

import (
	"reflect"
	"testing"

	"aqmlab/kind"
)

// TestInnerScheduler: the scheduler below another is a choice with a short form
// and overrides of its own, which goes with the one above it.
func TestInnerScheduler(t *testing.T) {
	const (
		file  = base + "switch: {scheduler: {kind: sp, queues: 4, strict: 2, inner: {kind: dwrr, weights: [2, 1]}}}\n"
		short = base + "switch: {scheduler: {kind: sp, queues: 4, inner: wfq}}\n"
	)
	type params = map[string]any
	inner := func(p params) kind.Choice {
		return kind.Choice{Kind: "sp", Params: params{"strict": 2, "inner": p}}
	}
	for name, tt := range map[string]struct {
		file, set, variable string
		want                kind.Choice
	}{
		"as it is":           {file, "", "", inner(params{"kind": "dwrr", "weights": []any{2, 1}})},
		"short":              {short, "", "", kind.Choice{Kind: "sp", Params: params{"inner": params{"kind": "wfq"}}}},
		"its parameter":      {file, "switch.scheduler.inner.quantum=3KB", "", inner(params{"kind": "dwrr", "weights": []any{2, 1}, "quantum": "3KB"})},
		"its kind":           {file, "switch.scheduler.inner=wfq", "", inner(params{"kind": "wfq"})},
		"the kind above":     {file, "switch.scheduler=wfq", "", kind.Choice{Kind: "wfq"}},
		"by a variable":      {file, "", "wrr", inner(params{"kind": "wrr"})},
		"one where was none": {base + "switch: {scheduler: {kind: sp, queues: 2}}\n", "switch.scheduler.inner=wrr", "", kind.Choice{Kind: "sp", Params: params{"inner": params{"kind": "wrr"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AQMLAB_SWITCH_SCHEDULER_INNER", tt.variable)
			var set []string
			if tt.set != "" {
				set = append(set, tt.set)
			}
			l := load(t, write(t, "x.yaml", tt.file), set...)
			if !reflect.DeepEqual(l.Switch.Scheduler, tt.want) {
				t.Errorf("got %#v, want %#v", l.Switch.Scheduler, tt.want)
			}
			if again := reload(t, l); !reflect.DeepEqual(l, again) {
				t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
			}
		})
	}
}

// TestSchemesKnowTheScheduler: a scheme is checked against the rounds of the
// queues behind strict ones.
func TestSchemesKnowTheScheduler(t *testing.T) {
	for _, scheduler := range []string{"{kind: wrr, queues: 3}", "{kind: sp, queues: 3, inner: dwrr}", "{kind: sp, queues: 3, inner: wfq}", "{kind: sp, queues: 3}"} {
		load(t, write(t, "x.yaml", `
topology: {rate: 1Gbps}
rtt: 250us
switch: {scheduler: `+scheduler+`}
schemes:
  - {name: red, aqm: dctcp-red, threshold: minimum}
  - {name: tcn, aqm: tcn}
`))
	}
}
