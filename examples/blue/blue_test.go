package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"aqmlab/cli"
	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/switch/aqm"
	"aqmlab/switch/port"
)

// kinds is what the program can build ports of.
func kinds(t *testing.T) port.Kinds {
	t.Helper()
	k, err := port.NewKinds([]aqm.Kind{row()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func env() aqm.Env { return aqm.Env{Queues: 1, Rand: rand.New(rand.NewPCG(1, 1))} }

// TestBlue goes through the events of BLUE with steps of a whole probability,
// so that every verdict is certain.
func TestBlue(t *testing.T) {
	const idle = -1 // the last packet leaves
	steps := []struct {
		ms, bytes int
		want      aqm.Verdict
		why       string
	}{
		{20, 30_000, aqm.Pass, "at the limit"},
		{21, 30_001, aqm.Mark, "above the limit"},
		{22, 0, aqm.Mark, "the probability stays"},
		{25, idle, aqm.Pass, "packets that leave are not marked"},
		{26, 0, aqm.Mark, "idle within the freeze time"},
		{32, idle, aqm.Pass, "packets that leave are not marked"},
		{33, 0, aqm.Pass, "idle after the freeze time"},
		{34, 30_001, aqm.Pass, "above the limit within the freeze time"},
		{43, 30_001, aqm.Mark, "above the limit after it"},
	}
	params := map[string]any{"limit": "30KB", "freeze": "10ms", "up": 1, "down": 1}
	s, err := kinds(t).Schemes().New("blue", params, env())
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		now := time.Duration(step.ms) * time.Millisecond
		var got aqm.Verdict
		if step.bytes == idle {
			got = s.Depart(now, nil, aqm.View{})
		} else {
			got = s.Arrive(now, nil, aqm.View{PortBytes: step.bytes})
		}
		if got != step.want {
			t.Errorf("%d ms, %s: %v, want %v", step.ms, step.why, got, step.want)
		}
	}
}

func TestBlueRefuses(t *testing.T) {
	for name, value := range map[string][]any{
		"limit": {"-1B", 30}, "freeze": {"-1ms"}, "up": {0, 1.1}, "down": {0, 1.1}, "beta": {1},
	} {
		for _, v := range value {
			_, err := kinds(t).Schemes().New("blue", map[string]any{name: v}, env())
			if pe := (*kind.ParamError)(nil); !errors.As(err, &pe) || pe.Param != name {
				t.Errorf("%s: %v: error %v", name, v, err)
			}
		}
	}
}

// TestLab: the lab file beside the program is one that it can run.
func TestLab(t *testing.T) {
	l, err := labs.Load("blue.yaml", labs.Options{Kinds: kinds(t)})
	if err != nil {
		t.Fatal(err)
	}
	if l.Baseline != "tcn" || l.Schemes[1].AQM.Kind != "blue" {
		t.Errorf("baseline %s, schemes %v: want tcn, and blue beside it", l.Baseline, l.Schemes)
	}
}

// TestRun: the program runs its lab, on modelled hosts.
func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	app := cli.App{Schemes: []aqm.Kind{row()}}
	args := []string{"run", "blue.yaml", "--runtime", "sim", "--flows", "30", "--seeds", "1", "--out", t.TempDir()}
	if code := app.Main(args, cli.Streams{Out: &out, Err: &errs}); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	for line := range strings.Lines(out.String()) {
		if cells := strings.Fields(line); len(cells) > 3 && cells[0] == "blue" {
			return
		}
	}
	t.Errorf("no row of blue in\n%s", &out)
}
