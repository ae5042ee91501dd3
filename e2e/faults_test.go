//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"aqmlab/orchestrator/host"
	"aqmlab/results"
	"aqmlab/results/store"
)

// TestFaults: what befalls a run in its second point ends it with exit code 1. Nothing is
// left but the first point, in a run that says what happened.
func TestFaults(t *testing.T) {
	t.Parallel()
	needRoot(t)
	type fault struct {
		name    string
		inflict func(t *testing.T, s started)
		says    []string
		run     started
	}
	signal := func(role string, s syscall.Signal) func(*testing.T, started) {
		return func(t *testing.T, run started) {
			if err := syscall.Kill(agentOf(t, run, role), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := []fault{ // those first that take their time
		{name: "switch stopped", inflict: signal("switch", syscall.SIGSTOP), says: []string{"switch", "T (stopped)", "run again"}},
		{name: "hosts stopped", inflict: signal("hosts", syscall.SIGSTOP), says: []string{"hosts", "T (stopped)", "run again"}},
		{name: "switch killed", inflict: signal("switch", syscall.SIGKILL), says: []string{"switch", "agent died", "killed"}},
		{name: "hosts killed", inflict: signal("hosts", syscall.SIGKILL), says: []string{"hosts", "agent died", "killed"}},
		{name: "interface removed", inflict: removeLink, says: []string{"the link between s1 and h2 is gone", "run again"}},
	}
	for i := range all {
		all[i].run = startUntil(t, "[2/3]")
		all[i].inflict(t, all[i].run)
	}
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) {
			_ = f.run.Wait() // the exit code says it
			if code := f.run.ProcessState.ExitCode(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			keepsFirst(t, f.run.out, f.says...)
		})
	}
	nothingLeft(t)
}

// keepsFirst wants one run in a folder, partial for that reason, with its first point.
func keepsFirst(t *testing.T, out string, reason ...string) {
	t.Helper()
	kept, err := store.List(out)
	if err != nil || len(kept) != 1 {
		t.Fatalf("runs kept: %+v, %v", kept, err)
	}
	if r := kept[0]; r.State != results.Partial || r.Points != 1 || !containsAll(r.Reason, reason...) {
		t.Errorf("kept %+v, want the reason %q", r, reason)
	}
}

// agentOf is the helper process of a run that has a role.
func agentOf(t *testing.T, run started, role string) int {
	t.Helper()
	all := host.Processes()
	i := slices.IndexFunc(all, func(p host.Process) bool {
		line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID), "cmdline"))
		return p.Parent == run.Process.Pid && strings.Contains(string(line), "\x00agent\x00"+role+"\x00")
	})
	if i < 0 {
		t.Fatalf("no %s agent runs", role)
	}
	return all[i].PID
}

// removeLink removes the switch's interface to h2.
func removeLink(t *testing.T, run started) {
	t.Helper()
	at, err := netns.GetFromPid(agentOf(t, run, "switch"))
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	h, err := netlink.NewHandleAt(at)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	link, err := h.LinkByName("h2")
	if err == nil {
		err = h.LinkDel(link)
	}
	if err != nil {
		t.Fatal(err)
	}
}
