package labs_test

import (
	"reflect"
	"strings"
	"testing"

	"aqmlab/kind"
	"aqmlab/labs"
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

// ownLab has a scheme with a scheduler of its own in each form, on the lines 4 to 6.
const ownLab = `topology: {rate: 1Gbps}
switch: {scheduler: {kind: dwrr, queues: 4}}
schemes:
  - {name: common, aqm: tcn, threshold: 250us}
  - {name: short, aqm: tcn, threshold: 250us, scheduler: wfq}
  - {name: full, aqm: dctcp-red, threshold: minimum, scheduler: {kind: wrr, weights: [1, 1, 1, 5]}}
rtt: 250us
`

// A scheme may come with what serves the queues. The others have the switch's.
func TestSchedulerOfAScheme(t *testing.T) {
	l := load(t, write(t, "x.yaml", ownLab), "schemes.full.scheduler.quantum=3KB")
	if again := reload(t, l); !reflect.DeepEqual(again, l) {
		t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
	}
	for name, want := range map[string]kind.Choice{
		"common": {Kind: "dwrr"},
		"short":  {Kind: "wfq"},
		"full":   {Kind: "wrr", Params: map[string]any{"weights": []any{1, 1, 1, 5}, "quantum": "3KB"}},
	} {
		spec, err := l.Fabric(name, 1)
		if err != nil || !reflect.DeepEqual(spec.Port.Scheduler, want) || spec.Port.Queues != 4 {
			t.Errorf("%s: %d queues under %#v, %v", name, spec.Port.Queues, spec.Port.Scheduler, err)
		}
	}
	all, err := l.Derived()
	if err != nil {
		t.Fatal(err)
	}
	if last := all[len(all)-1]; last.Param != "threshold of queue 3" || last.From != "5/8 of the standard threshold" {
		t.Errorf("%+v does not follow the weights of the scheme's scheduler", last)
	}
}

func TestBadSchedulerOfAScheme(t *testing.T) {
	const head = "topology: {rate: 1Gbps}\nrtt: 250us\nswitch: {scheduler: {kind: sp, queues: 2}}\nworkload: {pias: [10KB, 1MB]}\nschemes:\n"
	for scheme, want := range map[string]string{
		"{name: a, aqm: tcn, scheduler: dwr}":                        `x.yaml:6: schemes.a.scheduler.kind: unknown kind "dwr"`,
		"{name: a, aqm: tcn, scheduler: {weights: [1, 2]}}":          `x.yaml:6: schemes.a.scheduler.kind: missing: want one of fifo, dwrr`,
		"{name: a, aqm: tcn, scheduler: {kind: dwrr, weights: [1]}}": `x.yaml:6: schemes.a.scheduler.weights: 1 weights for 2 queues`,
		"{name: a, aqm: tcn, scheduler: {kind: dwrr, quantum: 99B}}": `x.yaml:6: schemes.a.scheduler.quantum: 99B does not hold one packet`,
		"{name: a, aqm: tcn, scheduler: dwrr}":                       `x.yaml:4: workload.pias: each threshold needs a strict queue, which makes 2: schemes.a.scheduler has 0: want sp`,
	} {
		_, err := labs.Parse("x.yaml", []byte(head+"  - "+scheme+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", scheme, err, want)
		}
	}
}

// What real hosts cannot serve is told of a scheme's scheduler, too.
func TestRealHostsAndTheSchedulerOfAScheme(t *testing.T) {
	l := load(t, write(t, "x.yaml", ownLab), "schemes.short.scheduler=pifo", "schemes.short.scheduler.rank=srpt", "schemes.short.scheduler.by=flow")
	if err := l.CheckReal(); err == nil || !strings.Contains(err.Error(), "schemes.short.scheduler: packets of real hosts") {
		t.Errorf("got %v", err)
	}
}
