package netns_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/netns"
)

// inNewNamespace starts a process in a network namespace of its own.
func inNewNamespace(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "idle")
	cmd.SysProcAttr = &unix.SysProcAttr{Unshareflags: unix.CLONE_NEWNET, Pdeathsig: unix.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // the lab's end has killed it already
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// TestOwners: hosts and switch stand in the namespaces that their processes
// have, reach each other as any others do, and go with the lab, processes
// included.
func TestOwners(t *testing.T) {
	needRoot(t)
	p := plan(3)
	p.Owners = map[string]int{"sw": inNewNamespace(t), "h2": inNewNamespace(t)}
	lab := up(t, p)
	for node, name := range map[string]string{"sw": lab.Switches[0], "h2": lab.Hosts[1].Namespace} {
		var named, owned unix.Stat_t
		if err := unix.Stat("/run/netns/"+name, &named); err != nil {
			t.Fatal(err)
		}
		if err := unix.Stat("/proc/"+strconv.Itoa(p.Owners[node])+"/ns/net", &owned); err != nil {
			t.Fatal(err)
		}
		if named.Ino != owned.Ino {
			t.Errorf("%s stands in another namespace than its process", node)
		}
	}
	if _, err := netns.Counters(lab.Hosts[1].Namespace); err != nil {
		t.Error(err)
	}
	if err := lab.Down(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{lab.Switches[0], lab.Hosts[1].Namespace} {
		if _, err := os.Stat("/run/netns/" + name); !os.IsNotExist(err) {
			t.Errorf("namespace %s is left: %v", name, err)
		}
	}
}

// TestBadOwners: neither this program's own namespace nor that of a process
// that is gone becomes a host's.
func TestBadOwners(t *testing.T) {
	needRoot(t)
	const nobody = 1 << 30 // above the kernel's largest process id
	for pid, want := range map[int]string{os.Getpid(): "this program's own", nobody: "no such file"} {
		p := plan(2)
		p.Owners = map[string]int{"h1": pid}
		j := create(t, t.TempDir())
		_, err := netns.Up(t.Context(), j, p)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "host h1") {
			t.Errorf("process %d: error %v; want one that names the host and %q", pid, err, want)
		}
	}
}
