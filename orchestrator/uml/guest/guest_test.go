package guest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMainIsForInit: nobody else's machine is mounted over and powered off.
func TestMainIsForInit(t *testing.T) {
	if os.Getpid() == 1 {
		t.Skip("is process 1")
	}
	err := Main(func([]byte, func([]byte) error) ([]byte, error) {
		t.Error("the order was done")
		return nil, nil
	})
	if err == nil || !strings.Contains(err.Error(), "process 1") {
		t.Errorf("got %v, want an error about process 1", err)
	}
}

// TestMounts: the host must make all folders that something is mounted on.
func TestMounts(t *testing.T) {
	all := Mounts()
	for _, dir := range []string{Dir, "/proc", "/sys", "/dev", "/run"} {
		if !slices.Contains(all, dir) {
			t.Errorf("%v lack %s", all, dir)
		}
	}
}
