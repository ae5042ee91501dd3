package sweep_test

import (
	"os"
	"path/filepath"
	"testing"

	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/sweeptest"
)

// TestSaveTidies: what a process left that was killed while it stored a sweep is removed
// by the next that stores one, and what another is storing is not.
func TestSaveTidies(t *testing.T) {
	s := sweep.Store{Dir: t.TempDir()}
	left := func(name string) string {
		t.Helper()
		dir := filepath.Join(s.Dir, "sweeps", name, "labs")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return filepath.Dir(dir)
	}
	save := func(load string) {
		t.Helper()
		if err := s.Save(sweeptest.Expand(t, "workload.load="+load)); err != nil {
			t.Fatal(err)
		}
	}
	killed := left(".partial-small-1a2b3c4d-123")
	other := left(".hidden")
	save("0.3")
	if _, err := os.Stat(killed); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("what is no sweep's was removed: %v", err)
	}
	end, err := sweep.Saving(s)
	if err != nil {
		t.Fatal(err)
	}
	owned := left(".partial-small-1a2b3c4d-456")
	save("0.4")
	if _, err := os.Stat(owned); err != nil {
		t.Errorf("another process is storing it: %v", err)
	}
	end()
	save("0.5")
	if _, err := os.Stat(owned); !os.IsNotExist(err) {
		t.Errorf("its process is gone: %v", err)
	}
	if names, err := s.Sweeps(); err != nil || len(names) != 3 {
		t.Errorf("%v, %v", names, err)
	}
}
