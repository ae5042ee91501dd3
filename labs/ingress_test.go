package labs_test

import (
	"reflect"
	"strings"
	"testing"

	"aqmlab/kind"
	"aqmlab/labs"
)

// abqLab has a scheme of each form, on the lines 3 to 7.
const abqLab = `topology: {rate: 1Gbps}
schemes:
  - {name: short, aqm: abq}
  - {name: tuned, aqm: abq, k: 20KB, ece_on_last_release: false}
  - {name: beside, aqm: tcn, threshold: 250us, ingress: abq}
  - {name: full, aqm: dctcp-red, threshold: 60KB, ingress: {kind: abq, k: 30KB}}
  - {name: none, aqm: droptail}
  - {name: below, aqm: abq, ingress: {k: 20KB}}
`

func abq(params map[string]any) kind.Choice { return kind.Choice{Kind: "abq", Params: params} }

// The ingress stands beside any aqm; an aqm of its name is short for it beside a
// plain queue.
func TestIngress(t *testing.T) {
	droptail := kind.Choice{Kind: "droptail"}
	want := []labs.Scheme{
		{Name: "short", AQM: droptail, Ingress: abq(nil)},
		{Name: "tuned", AQM: droptail, Ingress: abq(map[string]any{"k": "20KB", "ece_on_last_release": false})},
		{Name: "beside", AQM: kind.Choice{Kind: "tcn", Params: map[string]any{"threshold": "250us"}}, Ingress: abq(nil)},
		{Name: "full", AQM: kind.Choice{Kind: "dctcp-red", Params: map[string]any{"threshold": "60KB"}}, Ingress: abq(map[string]any{"k": "30KB"})},
		{Name: "none", AQM: droptail},
		{Name: "below", AQM: droptail, Ingress: abq(map[string]any{"k": "20KB"})},
	}
	l := load(t, write(t, "x.yaml", abqLab))
	if !reflect.DeepEqual(l.Schemes, want) {
		t.Errorf("got\n%+v\nwant\n%+v", l.Schemes, want)
	}
	if again := reload(t, l); !reflect.DeepEqual(again.Schemes, want) {
		t.Errorf("written and read again:\n%+v\nwant\n%+v", again.Schemes, want)
	}
	for _, s := range want {
		spec, err := l.Fabric(s.Name, 1)
		if err != nil || !reflect.DeepEqual(spec.Port.Scheme, s.AQM) || !reflect.DeepEqual(spec.Port.Ingress, s.Ingress) {
			t.Errorf("%s: scheme %+v, ingress %+v, %v", s.Name, spec.Port.Scheme, spec.Port.Ingress, err)
		}
	}
}

func TestIngressOverrides(t *testing.T) {
	path := write(t, "x.yaml", abqLab)
	if l := load(t, path, "schemes.none.ingress=abq"); l.Schemes[4].Ingress.Kind != "abq" {
		t.Errorf("--set of the ingress gives %+v", l.Schemes[4])
	}
	t.Setenv("AQMLAB_SCHEMES_BESIDE_INGRESS_FLOOR", "3KB")
	t.Setenv("AQMLAB_SCHEMES_NONE_AQM", "abq")
	l := load(t, path, "schemes.tuned.k=40KB", "schemes.full.ingress.k=50KB", "schemes.none.q_max=100KB")
	for i, want := range []map[string]any{
		nil,
		{"k": "40KB", "ece_on_last_release": false},
		{"floor": "3KB"},
		{"k": "50KB"},
		{"q_max": "100KB"},
	} {
		if got := l.Schemes[i].Ingress; !reflect.DeepEqual(got, abq(want)) {
			t.Errorf("%s: ingress %+v, want %v", l.Schemes[i].Name, got, want)
		}
	}
}

func TestBadIngress(t *testing.T) {
	const head = "topology: {rate: 1Gbps}\nschemes:\n"
	tests := map[string]struct{ scheme, want string }{
		"unknown":         {"{name: a, aqm: tcn, threshold: 1us, ingress: abp}", `x.yaml:3: schemes.a.ingress.kind: unknown kind "abp": want one of abq (did you mean abq?)`},
		"parameter":       {"name: a\n    aqm: droptail\n    ingress:\n      kind: abq\n      k: 20", `x.yaml:7: schemes.a.ingress.k: 20 has no unit: want a size such as 96KB or 2500B`},
		"no parameter":    {"{name: a, aqm: droptail, ingress: {kind: abq, flor: 6KB}}", `x.yaml:3: schemes.a.ingress.flor: unknown parameter: want one of k, q_max, floor, ece_on_last_release, ports, states, release, corrector, queue, least_window, window_shift (did you mean floor?)`},
		"short parameter": {"name: a\n    aqm: abq\n    k: 2MB", `x.yaml:5: schemes.a.k: 2MB is not below the capacity of the port's queues, 1MB`},
		"short below":     {"name: a\n    aqm: abq\n    ingress:\n      k: 2MB", `x.yaml:6: schemes.a.ingress.k: 2MB is not below the capacity of the port's queues, 1MB`},
		"no kind":         {"{name: a, aqm: droptail, ingress: {k: 20KB}}", `x.yaml:3: schemes.a.ingress.kind: missing: want one of abq`},
		"number":          {"{name: a, aqm: droptail, ingress: 3}", `x.yaml:3: schemes.a.ingress.kind: 3 is not the name of a kind`},
		"list":            {"{name: a, aqm: droptail, ingress: [abq]}", `x.yaml:3: schemes.a.ingress: not a mapping: want keys such as kind`},
		"nothing":         {"{name: a, aqm: droptail, ingress: {}}", `x.yaml:3: schemes.a.ingress: has no value`},
		"both forms":      {"name: a\n    aqm: abq\n    ingress: abq", `x.yaml:5: schemes.a.ingress: aqm: abq is short for aqm: droptail with ingress: abq: want one of the two`},
		"of the aqm":      {"{name: a, aqm: droptail, k: 20KB}", `x.yaml:3: schemes.a.k: unknown parameter: it takes none`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := labs.Parse("x.yaml", []byte(head+"  - "+tt.scheme+"\n"))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got\n%v\nwant\n%s", err, tt.want)
			}
		})
	}
}

// A buffer that is missing or too small is told once, as such.
func TestIngressNeedsABuffer(t *testing.T) {
	const lab = "switch: {buffer: {sharing: pool}}\n"
	_, err := labs.Parse("x.yaml", []byte(abqLab+lab))
	if err == nil || strings.Count(err.Error(), "\n") != 0 || !strings.Contains(err.Error(), "switch.buffer.pool: missing") {
		t.Errorf("got %v, want one error about the missing pool", err)
	}
	_, err = labs.Load(write(t, "y.yaml", abqLab), labs.Options{Set: []string{"switch.buffer.per_port=30KB"}})
	for _, at := range []string{"3: schemes.short.k", "5: schemes.beside.ingress.k", "6: schemes.full.ingress.k"} {
		if err == nil || !strings.Contains(err.Error(), at) {
			t.Errorf("got %v, want an error at %s", err, at)
		}
	}
}
