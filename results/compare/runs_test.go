package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
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
func made(t *testing.T, lab string, change func(*results.Manifest), points ...results.Point) *store.Run {
	t.Helper()
	m := resultstest.StarManifest()
	change(&m)
	w, err := store.Create(t.TempDir(), m, []byte(lab), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		if err := w.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := w.Finish(resultstest.Began().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

func same(*results.Manifest) {}

// stored writes points as a complete run.
func stored(t *testing.T, m results.Manifest, points []results.Point) *store.Run {
	t.Helper()
	return made(t, resultstest.LabText, func(to *results.Manifest) { *to = m }, points...)
}

func open(t *testing.T, dir string) *store.Run {
	t.Helper()
	r, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What a run that ended early has is compared, with a warning.
func TestPartialRun(t *testing.T) {
	w, err := store.Create(t.TempDir(), resultstest.StarManifest(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range resultstest.Measured()[:3] {
		if err := w.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Runs([]*store.Run{open(t, w.Dir())}, ""); err != nil {
		t.Errorf("what is there cannot be compared: %v", err)
	}
	dir, err := w.Abort(resultstest.Began(), "interrupted")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Runs([]*store.Run{open(t, dir)}, "")
	if err != nil {
		t.Fatal(err)
	}
	wantWarning(t, c, "is partial: interrupted")
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
		runs := []*store.Run{made(t, wholeLab, same, resultstest.Trace("droptail", 1, 1, 2)), made(t, strings.Replace(wholeLab, c.from, c.to, 1), same, resultstest.Trace("tcn", 1, 1, 2))}
		comparison, err := Runs(runs, "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got, want []string
		for _, d := range comparison.Differences {
			got = append(got, d.String())
		}
		for _, format := range c.want {
			n := Names(runs)
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
	model := func(m *results.Manifest) { m.Runtime, m.Transport.Provider = "sim", results.ProviderModel }
	guest := func(release, machine string) func(*results.Manifest) {
		return func(m *results.Manifest) {
			m.Runtime, m.Host = "uml", results.Machine{Kernel: machine}.OnGuest(release)
		}
	}
	other := strings.Replace(wholeLab, "threshold: 2ms", "threshold: 3ms", 1)
	for name, c := range map[string]struct {
		lab           string
		first, second func(*results.Manifest)
		want          []string
	}{
		"the same":     {wholeLab, same, same, []string{"droptail", "tcn"}},
		"dilation":     {wholeLab, same, func(m *results.Manifest) { m.Dilation = 3; m.Host.CPU = "other" }, []string{"droptail", "tcn"}},
		"model kernel": {wholeLab, model, func(m *results.Manifest) { model(m); m.Host.Kernel = "6.1" }, []string{"droptail", "tcn"}},
		"guests":       {wholeLab, guest("6.1.2", "6.18.0"), guest("6.1.2", "6.8.0"), []string{"droptail", "tcn"}},
		"a scheme":     {other, same, same, []string{"droptail", "tcn@1", "tcn@2"}},
	} {
		runs := []*store.Run{
			made(t, wholeLab, c.first, resultstest.Trace("droptail", 1, 10, 20), resultstest.Trace("tcn", 1, 10, 20)),
			made(t, c.lab, c.second, resultstest.Trace("droptail", 2, 10, 20), resultstest.Trace("tcn", 2, 10, 20)),
		}
		comparison, err := Runs(runs, "")
		if err != nil || !slices.Equal(comparison.Schemes, c.want) {
			t.Errorf("%s: schemes %v, %v; want %v", name, comparison.Schemes, err, c.want)
		}
	}
	if c, err := Runs([]*store.Run{
		made(t, wholeLab, guest("6.1.2", "6.18.0"), resultstest.Trace("droptail", 1, 10, 20)),
		made(t, wholeLab, guest("6.12.3", "6.18.0"), resultstest.Trace("droptail", 1, 10, 20)),
	}, ""); err != nil || !slices.Equal(c.Schemes, []string{"droptail@1", "droptail@2"}) || len(c.Differences) != 1 || !strings.HasPrefix(c.Differences[0].String(), "guest kernel: 6.1.2 (") {
		t.Errorf("guests of two kernels: schemes %v, differences %v, %v", c.Schemes, c.Differences, err)
	}
	for name, change := range map[string]func(*results.Manifest){
		"guest kernel: none and 6.12.3":         guest("6.12.3", "6.18.0"),
		"runtime: netns and uml":                func(m *results.Manifest) { m.Runtime = "uml" },
		"kernel: 6.18.0 and 6.1":                func(m *results.Manifest) { m.Host.Kernel = "6.1" },
		"git revision: 0123abc and f00":         func(m *results.Manifest) { m.GitRevision = "f00" },
		"transport provider: kernel and ebpf":   func(m *results.Manifest) { m.Transport.Provider = "ebpf" },
		"rtt by: delay line and netem":          func(m *results.Manifest) { m.RTTBy = results.RTTByNetem },
		"load 0.5 (seed 2), the baseline load ": func(m *results.Manifest) { m.Runtime = "uml" },
	} {
		runs := []*store.Run{
			made(t, wholeLab, same, resultstest.Trace("droptail", 1, 10, 20), resultstest.Trace("tcn", 1, 10, 20)),
			made(t, wholeLab, change, resultstest.Trace("droptail", 2, 10, 20), resultstest.Trace("tcn", 2, 10, 20)),
		}
		if _, err := Runs(runs, ""); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestRunsThatShareNothing are refused, with what each has.
func TestRunsThatShareNothing(t *testing.T) {
	far := resultstest.Trace("red", 1, 10, 20)
	far.Load = 0.9
	runs := []*store.Run{made(t, wholeLab, same, resultstest.Trace("droptail", 1, 10, 20), resultstest.Trace("tcn", 2, 10, 20)), made(t, wholeLab, same, far)}
	const want = "no load and seed in common with the baseline droptail: it has load 0.9 (seed 1), the baseline load 0.5 (seed 1)"
	if _, err := Runs(runs, ""); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
	if got := tracesText([]results.Coord{{Load: 0.9, Seed: 2}, {Load: 0.5, Seed: 1}, {Load: 0.9, Seed: 1}}); got != "load 0.5 (seed 1), load 0.9 (seeds 1, 2)" {
		t.Errorf("spots are %q", got)
	}
}

func TestRunGivenTwice(t *testing.T) {
	r := made(t, wholeLab, same, resultstest.Trace("droptail", 1, 10, 20))
	again := open(t, r.Dir+"/../latest")
	if _, err := Runs([]*store.Run{r, again}, ""); err == nil || !strings.Contains(err.Error(), "is given twice") {
		t.Errorf("error %v", err)
	}
}

// TestOtherTracesSayWhy: the refusal names the keys that made the traces others.
func TestOtherTracesSayWhy(t *testing.T) {
	runs := []*store.Run{
		made(t, wholeLab, same, resultstest.Trace("tcn", 1, 10, 20)),
		made(t, strings.Replace(wholeLab, "flows: 20", "flows: 30", 1), same, resultstest.Trace("tcn", 1, 10, 20, 30)),
	}
	if _, err := Runs(runs, "tcn"); err == nil || !strings.Contains(err.Error(), "the runs differ in lab key workload.flows: 20 and 30") {
		t.Errorf("error %v", err)
	}
}

// TestStandIn: a run whose hosts spoke another transport than the lab asked for says so
// wherever it is read, and differs from one on that transport.
func TestStandIn(t *testing.T) {
	spoke := func(name, inPlaceOf string) *store.Run {
		return made(t, wholeLab, func(m *results.Manifest) {
			m.Transport = results.Transport{Name: name, Provider: "kernel", InPlaceOf: inPlaceOf}
			m.Rootless = inPlaceOf != ""
		}, resultstest.Measured()[:3]...)
	}
	rootless, root := spoke("ecn-star", "dctcp"), spoke("dctcp", "")
	c, err := Runs([]*store.Run{rootless}, "")
	if err != nil {
		t.Fatal(err)
	}
	wantWarning(t, c, "ecn-star in place of dctcp")
	if c, err = Runs([]*store.Run{rootless, root}, ""); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"transport", "rootless"} {
		if !slices.ContainsFunc(c.Differences, func(d Difference) bool { return d.Field == field && d.Values[0].Value != d.Values[1].Value }) {
			t.Errorf("%s is not among the differences %+v", field, c.Differences)
		}
	}
	if !slices.Contains(c.Schemes, "droptail@1") || !slices.Contains(c.Schemes, "droptail@2") {
		t.Errorf("points of two transports add up: %v", c.Schemes)
	}
	if c, err = Runs([]*store.Run{root}, ""); err != nil || slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, "in place of") }) {
		t.Errorf("%v, %v", c.Warnings, err)
	}
}
