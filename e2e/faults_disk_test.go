//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"aqmlab/results"
	"aqmlab/results/store"
)

// fewFlows is a lab whose points take no time.
const fewFlows = `
name: few
topology: {kind: star, hosts: 3, rate: 100Mbps}
rtt: 1ms
schemes: [{name: droptail, aqm: droptail}, {name: tcn, aqm: tcn, threshold: 800us}]
workload: {sizes: {kind: fixed, size: 20KB}, load: 0.5, flows: 20}
`

// smallDisk is a file system that the options of tmpfs bound.
func smallDisk(t *testing.T, options string) (dir string) {
	t.Helper()
	needRoot(t)
	dir = t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// enlarge gives a file system of [smallDisk] room.
func enlarge(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT, "nr_inodes=10000,size=64m"); err != nil {
		t.Fatal(err)
	}
}

// stepsVar is by how many files or pages a disk grows from one try to the next, in place of
// what fits into a test run: with 1 each write in turn is the first that fails.
const stepsVar = "AQMLAB_E2E_STEP"

// fill calls try with file systems of more and more of a unit, files (nr_inodes) or pages
// (nr_blocks), until it says that all fitted.
func fill(t *testing.T, unit string, try func(t *testing.T, dir string) (fitted bool)) {
	t.Helper()
	step := number(stepsVar, 4)
	for n, fitted := 1, false; !fitted; n += step {
		t.Run(fmt.Sprintf("%s=%d", unit, n), func(t *testing.T) {
			fitted = try(t, smallDisk(t, fmt.Sprintf("%s=%d", unit, n))) || n > 500
		})
	}
}

// fullDisk is what every command says whose disk is full.
const fullDisk = "no space left on device"

// TestDiskFull: wherever the disk is full, a run says so, what is listed of it is whole,
// and with room it is completed.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	lab := labFile(t, fewFlows)
	try := func(t *testing.T, dir string) bool {
		out := filepath.Join(dir, "runs")
		c := command(t, plainVar, "run", lab, "--runtime", "sim", "--out", out)
		said, err := c.CombinedOutput()
		if err == nil {
			return true
		}
		if code := c.ProcessState.ExitCode(); code != 1 || !strings.Contains(string(said), fullDisk) {
			t.Errorf("exit code %d:\n%s", code, said)
		}
		kept, err := store.List(out)
		if err != nil || len(kept) > 1 {
			t.Errorf("listed %+v, %v", kept, err)
		}
		for _, r := range kept {
			if h := store.Verify(r.Dir); r.Points == 0 || r.State == results.Complete || h.Points != r.Points || len(h.Flaws) > 0 {
				t.Errorf("listed %+v, and it is %+v", r, h)
			}
			enlarge(t, dir)
			aqmlab(t, plainVar, 0, "run", "--resume", r.Dir)
			if now, err := store.List(out); err != nil || len(now) != 1 || now[0].State != results.Complete || now[0].Points != 2 {
				t.Errorf("resumed, it is %+v, %v", now, err)
			}
		}
		return false
	}
	fill(t, "nr_inodes", try)
	fill(t, "nr_blocks", try)
}

// TestDiskFullOfState: where the disk of the state is full, a lab does not come up, and
// leaves nothing.
func TestDiskFullOfState(t *testing.T) {
	lab := labFile(t, fewFlows)
	try := func(t *testing.T, dir string) bool {
		t.Setenv(stateVar, filepath.Join(dir, "state"))
		c := command(t, plainVar, "lab", "up", lab)
		said, err := c.CombinedOutput()
		if err == nil {
			aqmlab(t, plainVar, 0, "lab", "down")
			nothingLeft(t)
			return true
		}
		if code := c.ProcessState.ExitCode(); code != 1 || !strings.Contains(string(said), fullDisk) {
			t.Errorf("exit code %d:\n%s", code, said)
		}
		nothingLeft(t)
		return false
	}
	fill(t, "nr_inodes", try)
	fill(t, "nr_blocks", try)
}

// TestDiskFullOfGuests: where the disk is full on which guests have their folders, that is
// said, and nothing is left.
func TestDiskFullOfGuests(t *testing.T) {
	needGuest(t)
	fill(t, "nr_inodes", func(t *testing.T, dir string) bool {
		c := guests{dir}.command(t, "kernel", "test")
		said, err := c.CombinedOutput()
		if err != nil && !strings.Contains(strings.ToLower(string(said)), fullDisk) {
			t.Errorf("%v:\n%s", err, said)
		}
		if left, failed := os.ReadDir(dir); failed != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, failed)
		}
		return err == nil
	})
}

// TestReadOnly: what cannot be stored is found out before anything is brought up.
func TestReadOnly(t *testing.T) {
	dir := smallDisk(t, "size=1m")
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(t.TempDir(), "state") // which appears with the first lab
	t.Setenv(stateVar, state)
	for _, args := range [][]string{
		{"run", "smoke", "--runtime", "netns", "--out"},
		{"sweep", "smoke", "--runtime", "netns", "--over", "workload.load=0.5", "--store"},
		{"tune", "quickstart", "--runtime", "sim", "--scheme", "tcn", "--store"},
		{"reproduce", "tcn-fig6", "--out"},
	} {
		o := aqmlab(t, plainVar, 1, append(args, filepath.Join(dir, "here"))...)
		if !containsAll(o.err, "read-only file system", dir) {
			t.Errorf("%v says\n%s", args, o.err)
		}
		if _, err := os.Stat(filepath.Join(state, "lock")); err == nil {
			t.Errorf("%v brought up a lab", args)
		}
	}
}
