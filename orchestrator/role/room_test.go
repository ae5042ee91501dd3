package role_test

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/agent"
	"aqmlab/trafficgen/live"
)

// limitDescriptors has this process be allowed no more than that many, until the test's end.
func limitDescriptors(t *testing.T, limit unix.Rlimit) {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	})
}

// TestRoomForConnections: a replay with more connections than the process may have
// descriptors has the limit raised, and completes.
func TestRoomForConnections(t *testing.T) {
	h := serving(t, loopback(41))
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var now unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &now); err != nil {
		t.Fatal(err)
	}
	limitDescriptors(t, unix.Rlimit{Cur: uint64(len(open) + 20), Max: now.Max})
	trace := flows(80, 41)
	checkRecords(t, replay(t, h, live.Config{Flows: trace, Dilation: 1, Connections: 2}), trace)
}

// TestNoRoomForConnections: a replay with more connections than the process can be allowed
// is refused before one of them is opened, and says what to do.
func TestNoRoomForConnections(t *testing.T) {
	h := serving(t, loopback(3))
	err := h.Open(live.Config{Flows: flows(4, 3), Dilation: 1, Connections: 1 << 30}, &agent.Nothing{})
	if err == nil || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("error %v, want one about the limit of descriptors", err)
	}
}
