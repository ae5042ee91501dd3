package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLabShowPlacement: what is on which machine is drawn without asking any machine. The
// flag replaces the lab's list.
func TestLabShowPlacement(t *testing.T) {
	rack := filepath.Join(t.TempDir(), "rack.yaml")
	text := "machines:\n"
	for _, m := range []string{"m1, docker: c1, address: 192.0.2.1, cpus: 0-1", "m2, docker: c2, address: 192.0.2.2, cpus: 0-5"} {
		text += "  - {name: " + m + "}\n"
	}
	if err := os.WriteFile(rack, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	wants := func(want string, args ...string) {
		t.Helper()
		out, _ := run(t, 0, append([]string{"lab", "show", "smoke", "--placement", "--machines", rack}, args...)...)
		if got := strings.Join(strings.Fields(strings.TrimPrefix(out, strings.SplitAfter(out, "\n")[0])), " "); got != want {
			t.Errorf("%v: %q, want %q\n%s", args, got, want, out)
		}
	}
	wants("m1 - h7 h8 2 m2 s1 h1..h6 2", "--set", "topology.hosts=8")
	wants("m1 s1 h1 h2 6 m2 - h3..h8 6", "--set", "topology.hosts=8", "--set", "placement=s1=m1")
	if _, errs := run(t, exitUsage, "lab", "show", "smoke", "--placement"); !strings.Contains(errs, "--machines") {
		t.Errorf("without machines: %s", errs)
	}
	if _, errs := run(t, exitUsage, "lab", "show", "smoke", "--placement", "--machines", rack, "--set", "placement=s1=m3"); !strings.Contains(errs, `placement.s1: unknown machine "m3": want one of m1, m2`) {
		t.Errorf("an unknown machine: %s", errs)
	}
	if err := os.WriteFile(rack, []byte("machines: [{name: m1}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs := run(t, exitUsage, "lab", "show", "smoke", "--machines", rack); !strings.Contains(errs, rack+":1: machines.m1.docker: missing") {
		t.Errorf("a bad list: %s", errs)
	}
}
