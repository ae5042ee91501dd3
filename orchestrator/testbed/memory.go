package testbed

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"aqmlab/switch/wire"
)

// ErrMemory is wrapped by the error for a lab with more real hosts than this machine has
// memory for.
var ErrMemory = errors.New("not enough memory")

// checkMemory refuses more hosts than the switch can have receive rings for, given the
// bytes that are free. The kernel takes a ring's memory at once.
func checkMemory(hosts int, free int64) error {
	ring := int64(wire.RingBytes(hosts))
	if need := int64(hosts) * ring; need > free {
		return fmt.Errorf("topology: %w: %d real hosts take %.1f GB, %.0f MB each for what the switch receives, and %.1f GB are free here: want fewer hosts, or modelled ones (--runtime sim)",
			ErrMemory, hosts, float64(need)/1e9, float64(ring)/1e6, float64(free)/1e9)
	}
	return nil
}

// freeMemory is how many bytes programs can get on this machine.
func freeMemory() (int64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("reading how much memory is free: %w", err)
	}
	for line := range bytes.Lines(text) {
		var kB int64
		if n, _ := fmt.Sscanf(string(line), "MemAvailable: %d kB", &kB); n == 1 {
			return kB * 1024, nil
		}
	}
	return 0, errors.New("reading how much memory is free: /proc/meminfo has no MemAvailable")
}
