package host

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// TestPresetReceive: a device that is made afterwards receives on the CPUs that were
// given, and one that was there before does not.
func TestPresetReceive(t *testing.T) {
	inside(t)
	if _, err := Sysctl("net.core.rps_default_mask"); errors.Is(err, ErrNoSysctl) {
		t.Skip("before Linux 6.3 nothing can be preset")
	}
	last := runtime.NumCPU() - 1
	if err := PresetReceive([]int{last}); err != nil {
		t.Fatal(err)
	}
	later := netlink.NewVeth(netlink.LinkAttrs{Name: "c", TxQLen: -1})
	later.PeerName = "d"
	if err := netlink.LinkAdd(later); err != nil {
		t.Fatal(err)
	}
	want, err := ReceiveCPUs("a")
	if err != nil || want != "0" {
		t.Errorf("a is steered to %s, %v", want, err)
	}
	if err := SteerReceive("a", []int{last}); err != nil {
		t.Fatal(err)
	}
	if want, err = ReceiveCPUs("a"); err != nil {
		t.Fatal(err)
	}
	if got, err := ReceiveCPUs("c"); err != nil || got != want {
		t.Errorf("c is steered to %s, %v; want %s", got, err, want)
	}
}

// TestInUserNamespace: a process knows whether it is in a user namespace.
func TestInUserNamespace(t *testing.T) {
	if os.Getenv("AQMLAB_TEST_INSIDE") != "" {
		if !InUserNamespace() || IsRoot() || os.Geteuid() != 0 {
			os.Exit(1)
		}
		os.Exit(0)
	}
	again := exec.Command("/proc/self/exe", "-test.run=^TestInUserNamespace$")
	again.Env = append(os.Environ(), "AQMLAB_TEST_INSIDE=yes")
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	if err := again.Start(); err != nil {
		t.Skip("no user namespaces here:", err)
	}
	if err := again.Wait(); err != nil {
		t.Error("a process in a user namespace does not know it:", err)
	}
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		t.Fatal(err)
	}
	var first, outside, size int64
	if _, err := fmt.Sscan(string(text), &first, &outside, &size); err != nil {
		t.Fatal(err)
	}
	if mapped := size < 1<<32-1; InUserNamespace() != mapped {
		t.Errorf("in a user namespace: %t, and users are mapped: %t", InUserNamespace(), mapped)
	}
}
