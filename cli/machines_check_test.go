//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aqmlab/orchestrator/doctor"
	"aqmlab/orchestrator/machines/check"
	"aqmlab/results"
)

// TestPrintCheck: each machine is printed as doctor prints this one, and then what was
// measured between them. What could not be measured is no zero.
func TestPrintCheck(t *testing.T) {
	d := doctor.Diagnosis{
		Machine:  results.Machine{Kernel: "6.1", CPU: "EPYC", Cores: 8},
		Findings: []doctor.Finding{{Part: "switch", OK: true, Text: "fine"}, {Part: "merging", Text: "they merge", Remedy: "ethtool"}},
	}
	r := check.Report{
		Machines: []check.Machine{
			{Name: "m1", Endpoint: "ssh://root@h", Address: "192.0.2.1", Docker: "26.1", Diagnosis: &d},
			{Name: "m2", Endpoint: "ctx", Address: "192.0.2.2", Problem: "machine m2 (ctx): no answer: start it"},
		},
		Pairs: []check.Pair{
			{From: "m1", To: "m3", RTT: results.Micros(45200), Ahead: -1500*time.Second - 1234, Bound: results.Micros(22600), MTU: 1600, HostMTU: 1550, Forth: 9.41e9, Back: 8.5e9},
			{From: "m1", To: "m4", Notes: []string{"the port is in use"}, Problem: "no probe was answered"},
		},
	}
	var out bytes.Buffer
	if err := printCheck(&out, r); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	got := strings.Join(lines, "\n")
	for _, want := range []string{
		"m1, ssh://root@h, 192.0.2.1\nkernel 6.1, EPYC, 8 cores, Docker 26.1\n\nok switch fine\nwithout merging they merge\n-> ethtool\n",
		"m2, ctx, 192.0.2.2\nMISSING machine m2 (ctx): no answer: start it\n",
		"\nm1 m3 45.2µs -25m0.0000012s, within 22.6µs 1600 1550 9.41 8.50\n",
		"\nm1 m4 - - - - - -\n",
		"\nm1 and m4: the port is in use\nMISSING m1 and m4: no probe was answered\n",
		"\nNo lab can lie on all of these machines",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	out.Reset()
	if err := printCheck(&out, check.Report{Ready: true}); err != nil || out.String() != "Labs can lie on these machines.\n" {
		t.Errorf("printed %q, %v", &out, err)
	}
}

// TestMachinesCheck: a daemon that does not answer is in the report, with what to do, and
// makes the exit code 1. The machines are those of the file, or else of the lab.
func TestMachinesCheck(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	listOf := func(name string) string {
		return "machines: [{name: " + name + ", docker: \"unix://" + dir + "/none.sock\", address: 192.0.2.1}]\n"
	}
	rack := write("rack.yaml", listOf("m1"))
	lab := write("lab.yaml", "extends: smoke\n"+listOf("m2"))
	for name, args := range map[string][]string{"m1": {"--machines", rack}, "m2": {lab}} {
		text, _ := run(t, exitFailed, append([]string{"machines", "check"}, args...)...)
		if !strings.Contains(text, "MISSING  machine "+name) || !strings.Contains(text, "systemctl start docker") {
			t.Errorf("printed\n%s", text)
		}
	}
	raw, _ := run(t, exitFailed, "machines", "check", lab, "--machines", rack, "--json")
	var r struct {
		Machines []map[string]any
		Pairs    []map[string]any
		Ready    *bool
	}
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	if len(r.Machines) != 1 || r.Machines[0]["name"] != "m1" || r.Machines[0]["address"] != "192.0.2.1" || r.Machines[0]["problem"] == nil || r.Pairs == nil || r.Ready == nil || *r.Ready {
		t.Errorf("printed\n%s", raw)
	}
}
