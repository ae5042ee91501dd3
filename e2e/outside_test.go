//go:build linux

package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"

	"aqmlab/results"
)

// TestSchemeFromOutside: the program of a module that adds a scheme runs it, in
// its own switch process.
func TestSchemeFromOutside(t *testing.T) {
	needRoot(t)
	const (
		program = "AQMLAB_E2E_BLUE"
		folder  = "../examples/blue"
	)
	path := filepath.Join(t.TempDir(), "blue")
	if out, err := exec.Command("go", "build", "-C", folder, "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", folder, err, out)
	}
	t.Setenv(program, path)
	run, _ := runLab(t, program, filepath.Join(folder, "blue.yaml"), "--seeds", "1", "--flows", "100")
	nothingLeft(t)
	all := points(t, run)
	for _, scheme := range []string{"tcn", "blue"} {
		p := all[scheme]
		if done := countCompleted(p.Flows); done != 100 {
			t.Errorf("%s: %d of 100 flows completed", scheme, done)
		}
		if results.CountsOf(p).Marks == 0 {
			t.Errorf("%s marked nothing at load 0.8", scheme)
		}
	}
}

func countCompleted(flows []results.Flow) (n int) {
	for _, f := range flows {
		if f.Completed() {
			n++
		}
	}
	return n
}
