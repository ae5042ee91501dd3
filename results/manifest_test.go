package results_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

func TestManifestRoundTrip(t *testing.T) {
	m := resultstest.StarManifest()
	m.Start = m.Start.UTC()
	m.Points = []results.PointInfo{results.InfoOf(resultstest.Measured()[0])}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back results.Manifest
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(m, back) {
		t.Errorf("wrote %+v, read %+v", m, back)
	}
	if !bytes.Contains(b, []byte(`"base_rtt_us":85.5`)) {
		t.Errorf("base RTT is not in microseconds: %s", b)
	}
	if err := json.Unmarshal([]byte(`{"base_rtt_us":"fast"}`), &back); err == nil {
		t.Error("a base RTT in words was read")
	}
}

// TestKernels: a manifest of guests tells their kernel from the machine's own, and from the
// kernel that other hosts had.
func TestKernels(t *testing.T) {
	machine := results.Machine{Kernel: "6.18.0"}
	for name, c := range map[string]struct {
		manifest   results.Manifest
		guest, own string
		theirs     bool // the machine's kernel was the hosts'
	}{
		"namespaces": {manifest: results.Manifest{Host: machine}, own: "6.18.0", theirs: true},
		"guests":     {manifest: results.Manifest{Host: machine.OnGuest("6.12.117")}, guest: "6.12.117", own: "6.18.0"},
		"of before": {
			manifest: results.Manifest{Host: results.Machine{Kernel: "6.1.192 (guest, User-Mode Linux) on 6.18.44"}},
			guest:    "6.1.192", own: "6.18.44",
		},
		"models": {
			manifest: results.Manifest{Host: machine, Transport: results.Transport{Provider: results.ProviderModel}},
			own:      "6.18.0",
		},
	} {
		if guest, own := c.manifest.Host.Kernels(); guest != c.guest || own != c.own || c.manifest.OnOwnKernel() != c.theirs {
			t.Errorf("%s: guest %q, own %q, theirs %t", name, guest, own, c.manifest.OnOwnKernel())
		}
	}
}
