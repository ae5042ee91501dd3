//go:build !linux

package orchestrator

import (
	"errors"
	"runtime"
	"strings"
	"testing"
)

// TestRefused: runtimes that need Linux say so, which system this is, and what runs on it.
// Auto takes what does.
func TestRefused(t *testing.T) {
	lab := parse(t, small)
	lab.Workload.Load, lab.Seeds = []float64{0.5}, []uint64{1}
	for _, name := range RuntimeNames() {
		_, err := Run(t.Context(), lab, RunOptions{Runtime: Runtime(name), Out: t.TempDir(), Watcher: &diary{}})
		if r := Runtime(name); r == Auto || r == Simulator() {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, ErrNeedsLinux) {
			t.Errorf("%s: %v, want %v", name, err, ErrNeedsLinux)
			continue
		}
		for _, part := range []string{"need Linux", runtime.GOOS, "--runtime " + string(Simulator())} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v lacks %q", name, err, part)
			}
		}
	}
}
