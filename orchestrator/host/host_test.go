package host

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// inside puts the test's thread into a fresh network namespace with a veth
// pair a and b. The namespace ends with the thread, which is never unlocked.
func inside(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		t.Skipf("needs root: make a network namespace: %v", err)
	}
	veth := netlink.NewVeth(netlink.LinkAttrs{Name: "a", TxQLen: -1})
	veth.PeerName = "b"
	if err := netlink.LinkAdd(veth); err != nil {
		t.Fatal(err)
	}
}

func TestSettings(t *testing.T) {
	inside(t)
	s := Setting{"net.ipv4.tcp_ecn", "1"}
	if err := s.Set(); err != nil {
		t.Fatal(err)
	}
	if got, err := Sysctl(s.Key); err != nil || got != "1" {
		t.Errorf("%s = %q, %v; want 1", s.Key, got, err)
	}
	tests := []struct {
		name    string
		s       Setting
		missing bool
	}{
		{"unknown key", Setting{"net.ipv4.no_such_key", "1"}, true},
		{"value out of range", Setting{"net.ipv4.tcp_ecn", "1000"}, false},
	}
	for _, test := range tests {
		// No subtests: they run on other threads, outside the namespace.
		err := test.s.Set()
		if err == nil || !strings.Contains(err.Error(), test.s.Key) {
			t.Errorf("%s: error %v; want one that names the key", test.name, err)
		}
		if errors.Is(err, ErrNoSysctl) != test.missing {
			t.Errorf("%s: error %v: ErrNoSysctl should be %t", test.name, err, test.missing)
		}
	}
}

func TestDisableIPv6(t *testing.T) {
	inside(t)
	if _, err := Sysctl("net.ipv6.conf.all.disable_ipv6"); errors.Is(err, ErrNoSysctl) {
		t.Skip("kernel without IPv6")
	}
	if err := DisableIPv6(); err != nil {
		t.Fatal(err)
	}
	for _, device := range []string{"a", "lo"} {
		if got, err := Sysctl("net.ipv6.conf." + device + ".disable_ipv6"); got != "1" {
			t.Errorf("disable_ipv6 of %s = %q, %v", device, got, err)
		}
	}
}

func TestDisableOffloads(t *testing.T) {
	inside(t)
	e, err := OpenEthtool()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before, err := offloads(e, "a")
	if err != nil || len(before) == 0 {
		t.Fatalf("offloads of a new veth: %v, %v; want some, else this tests nothing", before, err)
	}
	if err := DisableOffloads("a"); err != nil {
		t.Fatal(err)
	}
	features, err := e.Features("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"rx-checksum", "tx-checksum-ip-generic", "tx-scatter-gather", "tx-tcp-segmentation",
		"tx-tcp-ecn-segmentation", "tx-udp-segmentation", "tx-generic-segmentation", "rx-gro", "rx-gro-list",
	} {
		if on, known := features[name]; on || !known {
			t.Errorf("%s: on %t, known %t", name, on, known)
		}
	}
	// A bound on what this is to touch.
	if !features["tx-vlan-hw-insert"] {
		t.Error("VLAN insertion was turned off, which has no part in it")
	}
}

func TestOffloadThatStaysOnIsAnError(t *testing.T) {
	inside(t)
	// The loopback's checksum offload is fixed.
	if err := DisableOffloads("lo"); err == nil || !strings.Contains(err.Error(), "still on: ") || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("error %v; want that checksums are still on", err)
	}
	if err := DisableOffloads("none"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("error %v; want one that names the device", err)
	}
}

func TestSteerReceive(t *testing.T) {
	inside(t)
	tests := []struct {
		cpus []int
		want string
	}{
		{[]int{0}, "1"},
		{[]int{0, 1}, "3"},
		{nil, "0"},
	}
	for _, test := range tests {
		if runtime.NumCPU() < 2 && len(test.cpus) > 1 {
			continue
		}
		if err := SteerReceive("a", test.cpus); err != nil {
			t.Fatal(err)
		}
		if got, err := ReceiveCPUs("a"); err != nil || got != test.want {
			t.Errorf("steered to %v: mask %s, %v; want %s", test.cpus, got, err, test.want)
		}
	}
	if err := SteerReceive("none", nil); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("error %v; want one that names the device", err)
	}
}

// TestSteering: what was opened inside a namespace changes its device from anywhere.
func TestSteering(t *testing.T) {
	inside(t)
	s, err := OpenSteering("a", []int{0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, choice := range []int{0, 1, 0} {
		if err := s.Choose(choice); err != nil {
			t.Fatal(err)
		}
		if got, err := ReceiveCPUs("a"); err != nil || got != []string{"1", "0"}[choice] {
			t.Errorf("choice %d: mask %s, %v", choice, got, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Choose(1); err == nil {
		t.Error("a steering that is closed chooses")
	}
	if _, err := OpenSteering("none"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("error %v; want one that names the device", err)
	}
}

func TestCPUMask(t *testing.T) {
	tests := []struct {
		cpus []int
		want string
	}{
		{nil, "0"},
		{[]int{0}, "1"},
		{[]int{3, 1}, "a"},
		{[]int{31}, "80000000"},
		{[]int{32}, "1,00000000"},
		{[]int{0, 64}, "1,00000000,00000001"},
	}
	for _, test := range tests {
		if got := cpuMask(test.cpus); got != test.want {
			t.Errorf("mask of %v = %s, want %s", test.cpus, got, test.want)
		}
	}
}
