//go:build linux

package e2e

import (
	"strings"
	"testing"
)

func containsAll(text string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}

// TestBadInput: what the user gets wrong is said in words, with exit code 2,
// and nothing is brought up.
func TestBadInput(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		want []string
	}{
		{"no such command", []string{"rnu"}, []string{"rnu"}},
		{"no such flag", []string{"run", "smoke", "--flow", "3"}, []string{"--flow"}},
		{"no such lab", []string{"run", "quikstart"}, []string{"quikstart", "quickstart"}},
		{"lab without a name", []string{"run"}, []string{"run LAB"}},
		{"bad override", []string{"run", "smoke", "--set", "host.rto_min=5"}, []string{"host.rto_min", "5"}},
		{"no such scheme in the lab", []string{"run", "smoke", "--schemes", "red"}, []string{"red", "droptail"}},
		{"no such runtime", []string{"run", "smoke", "--runtime", "cloud"}, []string{"cloud", "netns"}},
		{"no such kind", []string{"scheme", "show", "tnc"}, []string{"tnc", "tcn"}},
		{"no such run", []string{"compare", "nowhere"}, []string{"nowhere"}},
		{"bad file", []string{"lab", "check", labFile(t, strings.Replace(small, "aqm: tcn", "aqm: tnc", 1))}, []string{"lab.yaml:13", "tnc", "tcn"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := aqmlab(t, plainVar, 2, tt.args...)
			if o.out != "" || !containsAll(o.err, tt.want...) {
				t.Errorf("stdout %q, stderr %q: want %q on stderr only", o.out, o.err, tt.want)
			}
		})
	}
}

// TestHelp: every command explains itself with an example.
func TestHelp(t *testing.T) {
	for _, words := range []string{"", "run", "compare", "report", "lab list", "lab show", "lab check", "lab up", "lab down", "lab status", "lab exec", "scheme list", "scheme show", "scheduler list", "workload show", "transport list", "doctor", "machines check", "bench datapath", "bench bringup"} {
		o := aqmlab(t, plainVar, 0, append(strings.Fields(words), "--help")...)
		if !containsAll(o.out, "Usage:", "Examples:") {
			t.Errorf("aqmlab %s --help:\n%s", words, o.out)
		}
	}
}

// TestDoctor: a machine on which the other tests run is fine.
func TestDoctor(t *testing.T) {
	needRoot(t)
	if o := aqmlab(t, plainVar, 0, "doctor"); !containsAll(o.out, "kernel", "transport dctcp", "Labs run here") {
		t.Errorf("doctor:\n%s", o.out)
	}
}
