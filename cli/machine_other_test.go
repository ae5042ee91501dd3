//go:build !linux

package cli

import (
	"runtime"
	"strings"
	"testing"
)

// TestRefused: commands that need Linux say so as a usage error, whatever flags they have
// elsewhere, and what there is instead.
func TestRefused(t *testing.T) {
	for _, line := range []string{
		"machines check", "bench datapath", "image build", "kernel install x --sha256 y", "lab up quickstart", "lab down", "lab status --json",
		"lab exec h1 -- ls", "lab stats", "lab use tcn", "lab set a=1", "lab event e", "lab show quickstart --placement",
		"run quickstart --runtime netns", "run quickstart --runtime docker", "run quickstart --runtime uml",
	} {
		_, errs := run(t, exitUsage, strings.Fields(line)...)
		for _, part := range []string{"Linux", runtime.GOOS} {
			if !strings.Contains(errs, part) {
				t.Errorf("%s: %q lacks %q", line, errs, part)
			}
		}
	}
	out, _ := run(t, 0, "doctor")
	if !strings.Contains(out, runtime.GOOS) {
		t.Errorf("doctor: %s", out)
	}
}
