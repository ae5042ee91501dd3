package live

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"aqmlab/results"
)

// Every flow has one account, on shared connections and on its own, and no call
// returns it twice. Nothing is lost on loopback, nor sent again without probes.
func TestEveryFlowHasAnAccount(t *testing.T) {
	if !withoutProbes(t) {
		return
	}
	for name, cfg := range map[string]Config{
		"persistent": {Connections: 2},
		"fresh":      {Fresh: true, Handshake: true},
	} {
		n := newLoopback()
		s := serve(t, n, 0, 1, 2, 3)
		cfg.Flows = trace(t, 4, 200, "all-to-all")
		cfg.Dilation, cfg.Stall = 1, time.Minute
		records, err := open(t, n, cfg).Run(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		accounts := s.Accounts()
		slices.SortFunc(accounts, func(a, b Account) int { return int(a.Flow - b.Flow) })
		if len(accounts) != len(records) {
			t.Fatalf("%s: %d accounts of %d flows", name, len(accounts), len(records))
		}
		for i, a := range accounts {
			r := records[i]
			if a.Flow != r.ID || a.Retransmits != 0 || r.Retransmits != 0 {
				t.Errorf("%s: flow %d: server %+v, client %d packets", name, r.ID, a, r.Retransmits)
			}
			if a.Timeouts > 0 || r.Timeouts > 0 || (a.Timeouts == results.Unknown) != (r.Timeouts == results.Unknown) {
				t.Errorf("%s: flow %d: server %+v, client %d timeouts", name, r.ID, a, r.Timeouts)
			}
		}
		if again := s.Accounts(); len(again) != 0 {
			t.Errorf("%s: %d accounts came twice", name, len(again))
		}
	}
}

// withoutProbes runs the calling test once more in a network namespace of its own
// without tail loss probes, and is true there. Probes go by the clock: where an
// ACK is delayed, or the receiver has no CPU, they repeat what is not lost (RFC
// 8985, section 7).
func withoutProbes(t *testing.T) bool {
	t.Helper()
	const mark = "AQMLAB_WITHOUT_PROBES"
	if os.Getenv(mark) != "" {
		lo, err := netlink.LinkByName("lo")
		if err == nil {
			err = netlink.LinkSetUp(lo)
		}
		if err := errors.Join(err, os.WriteFile("/proc/sys/net/ipv4/tcp_early_retrans", []byte("0"), 0)); err != nil {
			t.Fatal(err)
		}
		return true
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	again.Env = append(os.Environ(), mark+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		again.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		again.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
	}
	out, err := again.CombinedOutput()
	if errors.Is(err, fs.ErrPermission) {
		t.Skip("a network namespace of one's own needs root here:", err)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// The kernel's count of timeouts begins where struct tcp_info has it since Linux
// 6.7 (include/uapi/linux/tcp.h), and a closed socket has none.
func TestAgainOfASocket(t *testing.T) {
	var info unix.TCPInfo
	if at := unsafe.Offsetof(info.Total_rto); at != 240 {
		t.Errorf("tcpi_total_rto is at byte %d, want 240", at)
	}
	n := newLoopback()
	serve(t, n, 1)
	c := open(t, n, Config{Flows: one(flow(0, 1, 1000)), Dilation: 1, Connections: 1})
	conn := c.pool.list[ends{server: 1}][0]
	if a := conn.retransmits(); a.packets != 0 || a.timeouts > 0 {
		t.Errorf("a new connection has sent again %+v", a)
	}
	c.Close()
	if a := conn.retransmits(); a != unknown() {
		t.Errorf("a closed connection has sent again %+v, want %+v", a, unknown())
	}
	if got := (retransmits{7, results.Unknown}).since(retransmits{2, results.Unknown}); got != (retransmits{5, results.Unknown}) {
		t.Errorf("since: %+v", got)
	}
}
