package labs_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/switch/aqm"
	"aqmlab/switch/port"
	"aqmlab/switch/sched"
)

// addedScheme and addedScheduler are the parameters of kinds that a program
// adds.
type (
	addedScheme struct {
		Level int `lab:"level" doc:"any number but 13"`
	}
	addedScheduler struct {
		Share int `lab:"share" doc:"any number"`
	}
)

// addedKinds holds a scheme "mine" and a scheduler "ours".
func addedKinds(t *testing.T) port.Kinds {
	t.Helper()
	mine := kind.Row("mine", "an added scheme", addedScheme{}, func(p addedScheme, env aqm.Env) (aqm.Scheme, error) {
		if p.Level == 13 {
			return nil, kind.Invalid("level", "13 brings bad luck")
		}
		return aqm.Table().New("droptail", nil, env)
	})
	ours := kind.Row("ours", "an added scheduler", addedScheduler{}, func(_ addedScheduler, env sched.Env) (sched.Scheduler, error) {
		return sched.Table().New("dwrr", nil, env)
	})
	kinds, err := port.NewKinds([]aqm.Kind{mine}, []sched.Kind{ours})
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

// added is a lab of added kinds; line 4 has the scheduler, line 6 the scheme.
const added = `
topology: {rate: 1Gbps}
rtt: 250us
switch: {scheduler: {kind: sp, queues: 3, inner: {kind: ours, share: 1}}}
schemes:
  - {name: a, aqm: mine, level: 2}
`

// TestAddedKinds: a lab with added kinds is read, overridden, laid out and
// written as any other.
func TestAddedKinds(t *testing.T) {
	t.Setenv("AQMLAB_SCHEMES_A_LEVEL", "3")
	opts := labs.Options{Set: []string{"switch.scheduler.inner.share=4"}, Kinds: addedKinds(t)}
	l, err := labs.Load(write(t, "x.yaml", added), opts)
	if err != nil {
		t.Fatal(err)
	}
	scheme := kind.Choice{Kind: "mine", Params: map[string]any{"level": 3}}
	scheduler := kind.Choice{Kind: "sp", Params: map[string]any{"inner": map[string]any{"kind": "ours", "share": 4}}}
	if !reflect.DeepEqual(l.Schemes[0].AQM, scheme) || !reflect.DeepEqual(l.Switch.Scheduler, scheduler) {
		t.Errorf("scheme %v, scheduler %v; want %v, %v", l.Schemes[0].AQM, l.Switch.Scheduler, scheme, scheduler)
	}
	spec, err := l.Fabric("a", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := port.New(spec.Port, l.Kinds, nil); err != nil {
		t.Errorf("the lab does not know how its ports are built: %v", err)
	}
	written, err := l.YAML()
	if err != nil {
		t.Fatal(err)
	}
	os.Unsetenv("AQMLAB_SCHEMES_A_LEVEL") // t.Setenv restores it
	again, err := labs.Load(write(t, "x.yaml", string(written)), labs.Options{Kinds: opts.Kinds})
	if err != nil {
		t.Fatalf("%v in\n%s", err, written)
	}
	if l.Hash() != again.Hash() {
		t.Errorf("wrote\n%s\nand read\n%+v", written, again)
	}
}

// TestAddedKindsAreChecked: errors point at the line, and suggest added names.
func TestAddedKindsAreChecked(t *testing.T) {
	for was, tt := range map[string]struct{ is, want string }{
		"aqm: mine":  {"aqm: mien", `x.yaml:6: schemes.a.aqm: unknown kind "mien": want one of droptail,`},
		"aqm: mine,": {"aqm: mien,", `mine, abq (did you mean mine?)`},
		"level: 2":   {"level: 13", `x.yaml:6: schemes.a.level: 13 brings bad luck`},
		"level":      {"levle", `x.yaml:6: schemes.a.levle: unknown parameter: want one of level (did you mean level?)`},
		"kind: ours": {"kind: our", `x.yaml:4: switch.scheduler.inner.kind: unknown kind "our": want one of fifo, dwrr, wrr, wfq, sp, pifo, fq, sp-pifo, aifo, dualq, ours (did you mean ours?)`},
		"share":      {"shrae", `x.yaml:4: switch.scheduler.inner.shrae: unknown parameter: want one of share (did you mean share?)`},
	} {
		dir := t.TempDir()
		t.Chdir(dir)
		if err := os.WriteFile("x.yaml", []byte(strings.Replace(added, was, tt.is, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := labs.Load("x.yaml", labs.Options{Kinds: addedKinds(t)}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.is, err, tt.want)
		}
	}
	_, err := labs.Load(write(t, "x.yaml", added), labs.Options{})
	for _, want := range []string{`unknown kind "mine"`, `unknown kind "ours"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without the kinds: %v, want %s", err, want)
		}
	}
}
