package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"aqmlab/labs"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/role"
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

// small is a lab of three hosts that any machine runs at a dilation of 2.
const small = `
name: small
topology: {kind: star, hosts: 3, rate: 100Mbps}
rtt: 2ms
host: {transport: dctcp, rto_min: 10ms}
switch: {buffer: {per_port: 100KB}}
schemes: [{name: droptail, aqm: droptail}, {name: tcn, aqm: tcn, threshold: 1ms}]
workload: {sizes: {kind: fixed, size: 64KB}, load: [0.3, 0.5], flows: 12, connections: 1}
seeds: [1, 2]
dilation: 2
`

// parse reads a lab and lets change it.
func parse(t *testing.T, text string, change ...func(*labs.Lab)) *labs.Lab {
	t.Helper()
	lab, err := labs.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(lab)
	}
	return lab
}

// testbed brings up a lab that is removed at the test's end.
func testbed(t *testing.T, lab *labs.Lab) *Testbed {
	t.Helper()
	needRoot(t)
	tb, err := Up(t.Context(), lab, Options{Root: t.TempDir(), Log: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A test may have killed a helper, of which Down complains.
		if err := tb.Down(context.Background()); err != nil && !errors.Is(err, agent.ErrDied) {
			t.Error(err)
		}
	})
	return tb
}

// nothingLeft fails the test if anything of a lab is still there.
func nothingLeft(t *testing.T, root, id string, pids ...int) {
	t.Helper()
	for _, pattern := range []string{"/run/netns/aqm-" + id + "-*", filepath.Join(root, id)} {
		left, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	for _, pid := range pids {
		if err := unix.Kill(pid, 0); !errors.Is(err, unix.ESRCH) {
			t.Errorf("helper process %d is still there: %v", pid, err)
		}
	}
}

// emptyRoot fails the test if a state folder holds a lab.
func emptyRoot(t *testing.T, root string) {
	t.Helper()
	if all, err := Labs(Options{Root: root}); err != nil || len(all) > 0 {
		t.Errorf("labs left: %+v, %v", all, err)
	}
}
