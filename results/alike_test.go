package results

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

const wholeLab = `name: star
title: one
seeds: [1, 2]
dilation: auto
baseline: droptail
switch:
  buffer: {per_port: 100KB}
  scheduler: {kind: dwrr, quanta: [1500B, 3000B]}
workload:
  load: [0.5]
  flows: 20
schemes:
  - {name: droptail, aqm: droptail}
  - {name: tcn, aqm: tcn, threshold: 2ms}
`

// made stores a run of a lab.
func made(t *testing.T, lab string, change func(*Manifest), points ...Point) *Run {
	t.Helper()
	m := manifest()
	change(&m)
	w, err := Create(t.TempDir(), m, []byte(lab))
	if err != nil {
		t.Fatal(err)
	}
	addAll(t, w, points)
	dir, err := w.Finish(began.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

func same(*Manifest) {}

func TestLabKeys(t *testing.T) {
	k := labKeysOf([]byte(wholeLab))
	for key, want := range map[string]string{
		"switch.buffer.per_port":    "100KB",
		"switch.scheduler.quanta":   "[1500B, 3000B]",
		"schemes.tcn.threshold":     "2ms",
		"schemes.droptail.aqm":      "droptail",
		"workload.load":             "[0.5]",
		"schemes.droptail.no-such":  "",
		"schemes.tcn.threshold.not": "",
	} {
		if got := k.values[key]; got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	for _, text := range []string{"", "{", "a: [", "just words", "- 1"} {
		if k := labKeysOf([]byte(text)); k.has("tcn") {
			t.Errorf("%q has a scheme: %v", text, slices.Collect(maps.Keys(k.values)))
		}
	}
}

// TestDifferencesOfLabs: what a lab says of how points are measured counts; its
// title, what manifests tell better, and schemes of only one of them do not.
func TestDifferencesOfLabs(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		want     []string
	}{
		"nothing":            {"", "", nil},
		"title":              {"title: one", "title: two", nil},
		"seeds":              {"seeds: [1, 2]", "seeds: [3]", nil},
		"load":               {"load: [0.5]", "load: [0.9]", nil},
		"a scheme of one":    {"name: tcn,", "name: tcn2,", nil},
		"a scheme of both":   {"threshold: 2ms", "threshold: 3ms", []string{"lab key schemes.tcn.threshold: 2ms (%s), 3ms (%s)"}},
		"a buffer":           {"per_port: 100KB", "per_port: 50KB", []string{"lab key switch.buffer.per_port: 100KB (%s), 50KB (%s)"}},
		"a list":             {"3000B", "4500B", []string{"lab key switch.scheduler.quanta: [1500B, 3000B] (%s), [1500B, 4500B] (%s)"}},
		"a key of one":       {"  flows: 20\n", "", []string{"lab key workload.flows: 20 (%s), none (%s)"}},
		"a key of the other": {"  flows: 20\n", "  flows: 20\n  host: 2\n", []string{"lab key workload.host: none (%s), 2 (%s)"}},
	} {
		runs := []*Run{made(t, wholeLab, same, trace("droptail", 1, 1, 2)), made(t, strings.Replace(wholeLab, c.from, c.to, 1), same, trace("tcn", 1, 1, 2))}
		comparison, err := CompareRuns(runs, "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got, want []string
		for _, d := range comparison.Differences {
			got = append(got, d.String())
		}
		for _, format := range c.want {
			n := names(runs)
			want = append(want, fmt.Sprintf(format, n[0], n[1]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: runs differ in %q, want %q", name, got, want)
		}
	}
}

// TestPointsOfOtherRunsAreKeptApart: seeds of two runs add up to one scheme only
// if both were made in the same way, dilation and processor aside.
func TestPointsOfOtherRunsAreKeptApart(t *testing.T) {
	model := func(m *Manifest) { m.Runtime, m.Transport.Provider = "sim", ProviderModel }
	other := strings.Replace(wholeLab, "threshold: 2ms", "threshold: 3ms", 1)
	for name, c := range map[string]struct {
		lab           string
		first, second func(*Manifest)
		want          []string
	}{
		"the same":     {wholeLab, same, same, []string{"droptail", "tcn"}},
		"dilation":     {wholeLab, same, func(m *Manifest) { m.Dilation = 3; m.Host.CPU = "other" }, []string{"droptail", "tcn"}},
		"model kernel": {wholeLab, model, func(m *Manifest) { model(m); m.Host.Kernel = "6.1" }, []string{"droptail", "tcn"}},
		"a scheme":     {other, same, same, []string{"droptail", "tcn@1", "tcn@2"}},
	} {
		runs := []*Run{
			made(t, wholeLab, c.first, trace("droptail", 1, 10, 20), trace("tcn", 1, 10, 20)),
			made(t, c.lab, c.second, trace("droptail", 2, 10, 20), trace("tcn", 2, 10, 20)),
		}
		comparison, err := CompareRuns(runs, "")
		if err != nil || !slices.Equal(comparison.Schemes, c.want) {
			t.Errorf("%s: schemes %v, %v; want %v", name, comparison.Schemes, err, c.want)
		}
	}
	for name, change := range map[string]func(*Manifest){
		"runtime: netns and uml":                func(m *Manifest) { m.Runtime = "uml" },
		"kernel: 6.18.0 and 6.1":                func(m *Manifest) { m.Host.Kernel = "6.1" },
		"git revision: 0123abc and f00":         func(m *Manifest) { m.GitRevision = "f00" },
		"transport provider: kernel and ebpf":   func(m *Manifest) { m.Transport.Provider = "ebpf" },
		"rtt by: delay line and netem":          func(m *Manifest) { m.RTTBy = RTTByNetem },
		"load 0.5 (seed 2), the baseline load ": func(m *Manifest) { m.Runtime = "uml" },
	} {
		runs := []*Run{
			made(t, wholeLab, same, trace("droptail", 1, 10, 20), trace("tcn", 1, 10, 20)),
			made(t, wholeLab, change, trace("droptail", 2, 10, 20), trace("tcn", 2, 10, 20)),
		}
		if _, err := CompareRuns(runs, ""); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestRunsThatShareNothing are refused, with what each has.
func TestRunsThatShareNothing(t *testing.T) {
	far := trace("red", 1, 10, 20)
	far.Load = 0.9
	runs := []*Run{made(t, wholeLab, same, trace("droptail", 1, 10, 20), trace("tcn", 2, 10, 20)), made(t, wholeLab, same, far)}
	const want = "no load and seed in common with the baseline droptail: it has load 0.9 (seed 1), the baseline load 0.5 (seed 1)"
	if _, err := CompareRuns(runs, ""); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
	if got := spotsText([]spot{{0.9, 2}, {0.5, 1}, {0.9, 1}}); got != "load 0.5 (seed 1), load 0.9 (seeds 1, 2)" {
		t.Errorf("spots are %q", got)
	}
}

func TestRunGivenTwice(t *testing.T) {
	r := made(t, wholeLab, same, trace("droptail", 1, 10, 20))
	again := open(t, r.Dir+"/../latest")
	if _, err := CompareRuns([]*Run{r, again}, ""); err == nil || !strings.Contains(err.Error(), "is given twice") {
		t.Errorf("error %v", err)
	}
}

// TestOtherTracesSayWhy: the refusal names the keys that made the traces others.
func TestOtherTracesSayWhy(t *testing.T) {
	runs := []*Run{
		made(t, wholeLab, same, trace("tcn", 1, 10, 20)),
		made(t, strings.Replace(wholeLab, "flows: 20", "flows: 30", 1), same, trace("tcn", 1, 10, 20, 30)),
	}
	if _, err := CompareRuns(runs, "tcn"); err == nil || !strings.Contains(err.Error(), "the runs differ in lab key workload.flows: 20 and 30") {
		t.Errorf("error %v", err)
	}
}

// TestTableNamesRuns: what the numbers of schemes stand for is said once.
func TestTableNamesRuns(t *testing.T) {
	runs := []*Run{made(t, wholeLab, same, trace("tcn", 1, 10, 20)), made(t, wholeLab+"# other\n", same, trace("tcn", 1, 10, 20))}
	if _, err := CompareRuns(runs, ""); err == nil || !strings.Contains(err.Error(), "droptail") {
		t.Fatalf("a baseline that no run has: %v", err)
	}
	c, err := CompareRuns(runs, "tcn")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Table(&b, c, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, name := range names(runs) {
		if line := fmt.Sprintf("@%d: run %s\n", i+1, name); strings.Count(b.String(), line) != 1 {
			t.Errorf("%q is not in\n%s", line, &b)
		}
	}
}
