package testbed

import (
	"errors"
	"strings"
	"testing"
)

// TestCheckMemory: rings are 128 MiB together, and 1 MiB at least.
func TestCheckMemory(t *testing.T) {
	for _, tt := range []struct {
		hosts int
		free  int64
		fits  bool
	}{{9, 1 << 30, true}, {128, 128 << 20, true}, {128, 127 << 20, false}, {1024, 1 << 30, true}, {65534, 8 << 30, false}, {65534, 64 << 30, true}} {
		err := checkMemory(tt.hosts, tt.free)
		if (err == nil) != tt.fits || err != nil && !errors.Is(err, ErrMemory) {
			t.Errorf("%d hosts with %d free: %v", tt.hosts, tt.free, err)
		}
	}
	err := checkMemory(65534, 8<<30)
	for _, want := range []string{"topology", "65534 real hosts", "68.7 GB", "8.6 GB", "--runtime sim"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if free, err := freeMemory(); err != nil || free < 1<<20 {
		t.Errorf("free here: %d, %v", free, err)
	}
}
