package netns_test

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/netns"
)

// TestMain makes this test binary the owners and commands of its tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "owner" {
		os.Exit(owner(os.Args[2]))
	}
	if len(os.Args) > 4 && os.Args[1] == "exec" {
		fmt.Fprintln(os.Stderr, netns.Exec(os.Args[2], os.Args[3], os.Args[4:]))
		os.Exit(125)
	}
	if len(os.Args) > 2 && os.Args[1] == "beside" {
		if err := beside(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "idle" {
		_ = unix.Pause() // until it is killed
	}
	os.Exit(m.Run())
}

// needRoot skips a test that makes namespaces when it may not.
func needRoot(tb testing.TB) {
	tb.Helper()
	if os.Geteuid() != 0 {
		tb.Skip("needs root: makes network namespaces")
	}
}

func undoers() journal.Undoers {
	return journal.Undoers{journal.Namespace: netns.Remove, journal.File: journal.RemoveFiles}
}

// plan is a lab of n hosts in which everything that can be asked for is.
func plan(n int) netns.Plan {
	p := netns.Plan{
		Switches:    []string{"sw"},
		Subnet:      netip.MustParsePrefix("10.7.0.0/16"),
		MTU:         1400,
		Uplink:      1e9,
		TCP:         netns.TCP{InitCwnd: 16, RTOMin: 12 * time.Millisecond, Congestion: "reno", ECN: true, SACKRecovery: true},
		ReceiveCPUs: []int{0},
		Sysctls:     []host.Setting{{Key: "net.ipv4.tcp_sack", Value: "0"}},
	}
	for i := range n {
		p.Hosts = append(p.Hosts, fmt.Sprintf("h%d", i+1))
	}
	return p
}

// create makes a journal that is undone at the test's end.
func create(t *testing.T, root string) *journal.Journal {
	t.Helper()
	j, err := journal.Create(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Undo(undoers()); err != nil {
			t.Error(err)
		}
	})
	return j
}

// up brings up a lab that is removed at the test's end.
func up(t *testing.T, p netns.Plan) *netns.Lab {
	t.Helper()
	needRoot(t)
	lab, err := netns.Up(t.Context(), create(t, t.TempDir()), p)
	if err != nil {
		t.Fatal(err)
	}
	return lab
}

// in runs f inside a namespace and fails the test for it.
func in(t *testing.T, namespace string, f func() error) {
	t.Helper()
	if err := netns.Do(namespace, f); err != nil {
		t.Error(err)
	}
}

// leftOf lists the namespaces of a lab that are there.
func leftOf(t *testing.T, id string) []string {
	t.Helper()
	left, err := filepath.Glob("/run/netns/aqm-" + id + "-*")
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func TestHostIsAsPlanned(t *testing.T) {
	p := plan(3)
	lab := up(t, p)
	for i, h := range lab.Hosts {
		if want := netip.AddrFrom4([4]byte{10, 7, 0, byte(i + 1)}); h.Addr != want {
			t.Errorf("%s has address %s, want %s", h.Name, h.Addr, want)
		}
		in(t, h.Namespace, func() error {
			return errors.Join(checkDevice(h, p), checkOffloads("eth0"), checkRoute(p), checkSysctls(), checkMask())
		})
	}
	in(t, lab.Switches[0], func() error { return checkPorts(lab, p) })
}

func checkDevice(h netns.Host, p netns.Plan) error {
	link, err := netlink.LinkByName("eth0")
	if err != nil {
		return err
	}
	a := link.Attrs()
	if a.MTU != p.MTU || a.HardwareAddr.String() != h.MAC.String() || a.OperState != netlink.OperUp {
		return fmt.Errorf("%s: eth0 is %d %s %s; want %d %s up", h.Name, a.MTU, a.HardwareAddr, a.OperState, p.MTU, h.MAC)
	}
	addrs, err := netlink.AddrList(link, netlink.FAMILY_ALL)
	if err != nil {
		return err
	}
	if len(addrs) != 1 || addrs[0].IPNet.String() != h.Addr.String()+"/32" {
		return fmt.Errorf("%s: addresses %v, want only %s/32", h.Name, addrs, h.Addr)
	}
	neighbours, err := netlink.NeighList(a.Index, netlink.FAMILY_V4)
	if err != nil {
		return err
	}
	if len(neighbours) != 1 || neighbours[0].State != netlink.NUD_PERMANENT ||
		neighbours[0].IP.String() != "169.254.1.1" || neighbours[0].HardwareAddr.String() != h.Gateway.String() {
		return fmt.Errorf("%s: neighbours %v, want only 169.254.1.1 at %s for ever", h.Name, neighbours, h.Gateway)
	}
	return nil
}

func checkOffloads(device string) error {
	e, err := host.OpenEthtool()
	if err != nil {
		return err
	}
	defer e.Close()
	features, err := e.Features(device)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range []string{
		"rx-checksum", "tx-checksum-ip-generic", "tx-scatter-gather",
		"tx-tcp-segmentation", "tx-generic-segmentation", "rx-gro",
	} {
		if on, known := features[name]; on || !known {
			errs = append(errs, fmt.Errorf("%s of %s: on %t, known %t", name, device, on, known))
		}
	}
	return errors.Join(errs...)
}

func checkRoute(p netns.Plan) error {
	routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		return err
	}
	if len(routes) != 1 {
		return fmt.Errorf("routes %v, want one", routes)
	}
	r := routes[0]
	if r.Dst.String() != p.Subnet.String() || r.Gw.String() != "169.254.1.1" || r.InitCwnd != 16 ||
		r.RtoMin != 12 || !r.RtoMinLock || r.Congctl != "reno" || r.Features != 1 {
		return fmt.Errorf("route %+v is not as planned", r)
	}
	return nil
}

func checkSysctls() error {
	var errs []error
	for key, want := range map[string]string{
		"net.ipv4.conf.all.rp_filter":        "0",
		"net.ipv4.conf.eth0.rp_filter":       "0",
		"net.ipv4.tcp_no_metrics_save":       "1",
		"net.ipv4.tcp_slow_start_after_idle": "0",
		"net.ipv4.tcp_ecn":                   "1",
		"net.ipv4.tcp_ecn_fallback":          "0",
		"net.ipv4.tcp_recovery":              "0",
		"net.ipv4.tcp_early_retrans":         "0",
		"net.ipv4.tcp_sack":                  "0", // the plan's own
	} {
		got, err := host.Sysctl(key)
		if err != nil || got != want {
			errs = append(errs, fmt.Errorf("%s = %s, want %s: %w", key, got, want, err))
		}
	}
	for key, want := range map[string]string{
		"net.ipv4.tcp_backlog_ack_defer":  "0",
		"net.ipv6.conf.eth0.disable_ipv6": "1",
	} {
		if got, err := host.Sysctl(key); got != want && !errors.Is(err, host.ErrNoSysctl) {
			errs = append(errs, fmt.Errorf("%s = %s, want %s where there is one: %w", key, got, want, err))
		}
	}
	return errors.Join(errs...)
}

func checkMask() error {
	mask, err := host.ReceiveCPUs("eth0")
	if err != nil || mask != "1" {
		return fmt.Errorf("receive CPUs %s, want 1: %w", mask, err)
	}
	return nil
}

// checkPorts looks at the switch's ends.
func checkPorts(lab *netns.Lab, p netns.Plan) error {
	var errs []error
	for _, h := range lab.Hosts {
		link, err := netlink.LinkByName(h.Name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		a := link.Attrs()
		if a.MTU != p.MTU || a.HardwareAddr.String() != h.Gateway.String() || a.OperState != netlink.OperUp || a.RawFlags&unix.IFF_NOARP == 0 {
			errs = append(errs, fmt.Errorf("port %s is %d %s %s, flags %x; want %d %s up, no ARP",
				h.Name, a.MTU, a.HardwareAddr, a.OperState, a.RawFlags, p.MTU, h.Gateway))
		}
		errs = append(errs, checkOffloads(h.Name))
		addrs, err := netlink.AddrList(link, netlink.FAMILY_ALL)
		if err != nil || len(addrs) != 0 {
			errs = append(errs, fmt.Errorf("port %s has addresses %v: %w", h.Name, addrs, err))
		}
	}
	return errors.Join(errs...)
}

func TestPlainPlan(t *testing.T) {
	p := plan(1)
	p.TCP, p.ReceiveCPUs, p.Sysctls = netns.TCP{IdleRestart: true}, nil, nil
	lab := up(t, p)
	in(t, lab.Hosts[0].Namespace, func() error {
		routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
		if err != nil {
			return err
		}
		if r := routes[0]; r.InitCwnd != 0 || r.RtoMin != 0 || r.RtoMinLock || r.Congctl != "" || r.Features != 0 {
			t.Errorf("route %+v has attributes that nobody asked for", r)
		}
		for key, want := range map[string]string{"net.ipv4.tcp_ecn": "0", "net.ipv4.tcp_slow_start_after_idle": "1", "net.ipv4.tcp_recovery": "1", "net.ipv4.tcp_early_retrans": "3"} {
			if got, err := host.Sysctl(key); got != want {
				t.Errorf("%s = %s, want %s (%v)", key, got, want, err)
			}
		}
		if mask, err := host.ReceiveCPUs("eth0"); mask != "0" {
			t.Errorf("receive CPUs %s, want none (%v)", mask, err)
		}
		return nil
	})
}

func TestRetime(t *testing.T) {
	p := plan(3)
	lab := up(t, p)
	p.TCP = netns.TCP{InitCwnd: 4, Congestion: "reno"}
	if err := lab.Retime(p); err != nil {
		t.Fatal(err)
	}
	for _, h := range lab.Hosts {
		in(t, h.Namespace, func() error {
			routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
			if err != nil {
				return err
			}
			if len(routes) != 1 || routes[0].InitCwnd != 4 || routes[0].RtoMin != 0 || routes[0].RtoMinLock || routes[0].Features != 0 {
				t.Errorf("%s: routes %+v, want one with initcwnd 4 and no RTO or ECN", h.Name, routes)
			}
			return nil
		})
	}
	p.TCP.Congestion = "no-such-cc"
	if err := lab.Retime(p); err == nil || !strings.Contains(err.Error(), "host h1") {
		t.Errorf("unknown congestion control: %v, want an error that names the hosts", err)
	}
}

func TestTwoLabsAtOnce(t *testing.T) {
	p := plan(2)
	first, second := up(t, p), up(t, p)
	if err := first.Down(); err != nil {
		t.Fatal(err)
	}
	if left := leftOf(t, first.ID); len(left) != 0 {
		t.Errorf("left of the first lab: %v", left)
	}
	in(t, second.Switches[0], func() error { return checkPorts(second, p) })
	if err := first.Down(); err != nil {
		t.Errorf("down again: %v", err)
	}
}

// TestDownTakesLinksFromAStrayProcess holds a host's namespace as a forgotten
// shell would.
func TestDownTakesLinksFromAStrayProcess(t *testing.T) {
	lab := up(t, plan(2))
	in(t, lab.Hosts[0].Namespace, func() error {
		if err := lab.Down(); err != nil {
			return err
		}
		links, err := netlink.LinkList()
		if len(links) != 1 {
			t.Errorf("links left in a namespace that is still held: %v, want lo only", links)
		}
		return err
	})
}

func TestFailedUpLeavesNothing(t *testing.T) {
	needRoot(t)
	tests := []struct {
		name  string
		spoil func(*netns.Plan)
		want  string
	}{
		{"congestion control", func(p *netns.Plan) { p.TCP.Congestion = "no-such-cc" }, "no-such-cc"},
		{"sysctl", func(p *netns.Plan) { p.Sysctls = []host.Setting{{Key: "net.ipv4.no_such", Value: "1"}} }, "net.ipv4.no_such"},
		{"CPU", func(p *netns.Plan) { p.ReceiveCPUs = []int{8000} }, "8000"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := plan(4)
			test.spoil(&p)
			j := create(t, t.TempDir())
			_, err := netns.Up(t.Context(), j, p)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "host h") {
				t.Errorf("up: %v; want an error that names the host and %q", err, test.want)
			}
			if left := leftOf(t, j.ID()); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// TestForeignNamespaceIsSpared has a namespace in the way that the lab did not
// make: it must neither be used nor be removed.
func TestForeignNamespaceIsSpared(t *testing.T) {
	needRoot(t)
	j := create(t, t.TempDir())
	foreign := "/run/netns/aqm-" + j.ID() + "-h2"
	if err := os.MkdirAll(filepath.Dir(foreign), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(foreign, nil, 0o444); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(foreign) })
	if _, err := netns.Up(t.Context(), j, plan(3)); err == nil || !strings.Contains(err.Error(), "not of this lab") {
		t.Errorf("up: %v, want a refusal", err)
	}
	if err := j.Undo(undoers()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("foreign namespace: %v", err)
	}
}

func TestDo(t *testing.T) {
	lab := up(t, plan(1))
	here := func() string {
		name, err := os.Readlink("/proc/thread-self/ns/net")
		if err != nil {
			t.Error(err)
		}
		return name
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	outside := here()
	var inside, nested, after string
	in(t, lab.Switches[0], func() error {
		inside = here()
		err := netns.Do(lab.Hosts[0].Namespace, func() error { nested = here(); return nil })
		after = here()
		return err
	})
	if inside == outside || nested == inside || nested == outside || after != inside || here() != outside {
		t.Errorf("outside %s, inside %s, nested %s, after nested %s", outside, inside, nested, after)
	}
	failed := errors.New("failed")
	if err := netns.Do(lab.Switches[0], func() error { return failed }); !errors.Is(err, failed) || !strings.Contains(err.Error(), lab.Switches[0]) {
		t.Errorf("error of f: %v", err)
	}
	if err := netns.Do(lab.Switches[0], func() error { runtime.Goexit(); return nil }); err == nil {
		t.Error("f ended its goroutine: no error")
	}
	if err := netns.Do("aqm-none-such", func() error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("namespace that is not there: %v", err)
	}
}
