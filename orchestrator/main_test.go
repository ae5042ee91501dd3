//go:build linux

package orchestrator

import (
	"context"
	"fmt"
	"os"
	"testing"

	"aqmlab/orchestrator/role"
	"aqmlab/orchestrator/testbed"
	"aqmlab/switch/port"
)

// TestMain makes this test binary the helper processes of its testbeds.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "agent" {
		if err := role.Serve(context.Background(), os.Args[2], port.Kinds{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("real hosts need root")
	}
}

// emptyRoot fails the test if a state folder holds a lab.
func emptyRoot(t *testing.T, root string) {
	t.Helper()
	if all, err := testbed.Labs(testbed.Options{Root: root}); err != nil || len(all) > 0 {
		t.Errorf("labs left: %+v, %v", all, err)
	}
}
