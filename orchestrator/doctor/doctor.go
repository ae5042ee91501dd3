// Package doctor says what a machine has for labs, and what to do about the rest.
package doctor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/docker"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/rootless"
	"aqmlab/orchestrator/testbed"
	"aqmlab/orchestrator/uml"
	"aqmlab/results"
	"aqmlab/switch/wire"
)

// Diagnosis is what a machine has for labs.
type Diagnosis struct {
	Machine  results.Machine `json:"machine"`
	Ready    bool            `json:"ready"`    // every part that a lab needs is there
	Rootless bool            `json:"rootless"` // this is an ordinary user, whose labs run in a user namespace
	Guest    bool            `json:"guest"`    // a guest kernel is, in which labs run whatever this one lacks
	Findings []Finding       `json:"findings"`
}

// Finding is one part of a lab, and how this machine provides it.
type Finding struct {
	Part   string `json:"part"`
	OK     bool   `json:"ok"`
	Needed bool   `json:"needed"` // no lab runs without it
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"` // what to do, if it is not there
}

// Parts that some runtimes need.
const (
	Docker      = "Docker"
	GuestKernel = "guest kernel"
)

// Missing says what keeps labs from real hosts in namespaces, or, with a part, that it is
// not there; empty: nothing.
func (d Diagnosis) Missing(part string) string {
	for _, f := range d.Findings {
		if f.OK || part == "" && !f.Needed || part != "" && f.Part != part {
			continue
		}
		if f.Remedy == "" {
			return f.Text
		}
		return f.Text + ": " + f.Remedy
	}
	return ""
}

// Unless is the finding, or what to say and do where an error was found.
func (f Finding) Unless(err error, text, remedy string) Finding {
	f.OK = err == nil
	if !f.OK {
		f.Text, f.Remedy = fmt.Sprintf("%s: %v", text, err), remedy
	}
	return f
}

// Diagnose looks at this machine. It changes nothing.
func Diagnose() Diagnosis {
	before, unread := host.ReadLoad()
	d := DiagnoseKernel()
	guest := findGuestKernel()
	d.Guest = guest.OK
	d.Add(findDocker(), guest, findLoad(before, unread))
	return d
}

// DiagnoseSite looks at this machine as one of several that a lab lies on. That Docker is
// there is known, and guest kernels take no part.
func DiagnoseSite() Diagnosis {
	before, unread := host.ReadLoad()
	d := DiagnoseKernel()
	d.Add(findLoad(before, unread))
	return d
}

// Add adds findings.
func (d *Diagnosis) Add(all ...Finding) {
	for _, f := range all {
		d.Findings = append(d.Findings, f)
		d.Ready = d.Ready && (f.OK || !f.Needed)
	}
}

// DiagnoseKernel looks at the running kernel alone.
func DiagnoseKernel() Diagnosis {
	d := Diagnosis{Machine: results.ThisMachine(), Ready: true}
	rights, parts := findRights()
	d.Rootless = rights.OK && os.Geteuid() != 0
	d.Add(rights)
	d.Add(parts...)
	d.Add(findCPUs(), findTimers(), findBacklog())
	return d
}

// findGuestKernel looks for the kernels of the runtime uml. Labs that name none need the
// first version.
func findGuestKernel() Finding {
	if _, err := uml.Find(""); err != nil {
		return Finding{Part: GuestKernel, Text: err.Error(), Remedy: "for labs without root (--runtime uml): aqmlab kernel build, or aqmlab kernel install with the file of a release"}
	}
	var releases []string
	for _, k := range uml.All() {
		releases = append(releases, k.Release)
	}
	return Finding{Part: GuestKernel, OK: true, Text: "Linux " + strings.Join(releases, " and ") + ", for --runtime uml"}
}

// daemonWait bounds the look for a Docker daemon.
const daemonWait = 5 * time.Second

// findDocker looks for what hosts that are containers need.
func findDocker() Finding {
	ctx, cancel := context.WithTimeout(context.Background(), daemonWait)
	defer cancel()
	engine, err := docker.Connect(ctx, "")
	var missing *docker.UnavailableError
	switch {
	case errors.As(err, &missing):
		return Finding{Part: Docker, Text: missing.Missing, Remedy: "for --runtime docker: " + missing.Remedy}
	case err != nil:
		return Finding{Part: Docker, Text: err.Error()}
	}
	if err := engine.Close(); err != nil {
		return Finding{Part: Docker, Text: err.Error()}
	}
	return Finding{Part: Docker, OK: true, Text: fmt.Sprintf("version %s: --runtime docker makes hosts and switch containers", engine.Version())}
}

// HostParts looks at what takes root, of the machine or of a user namespace.
func HostParts() []Finding {
	found := []Finding{findNamespaces(), findUplinks(), findPackets(), findPriority()}
	return append(append(found, findTransports()...), findDelay())
}

// Role is what this program is when it looks at them in a user namespace: "agent" and
// this are its arguments then.
const Role = "doctor"

// findRights says what this user may do, and what he finds who may.
func findRights() (Finding, []Finding) {
	f := Finding{Part: "rights", Needed: true, OK: true, Text: "running as root"}
	if os.Geteuid() == 0 {
		if host.InUserNamespace() {
			f.Text += " of a user namespace"
		}
		return f, HostParts()
	}
	parts, err := hostPartsInNamespace()
	if err == nil {
		f.Text = "not running as root: labs run in a user namespace of this user's own"
		return f, parts
	}
	f.OK, f.Text, f.Remedy = false, fmt.Sprintf("not running as root, and %v", err), "run with sudo: namespaces, packet sockets and BPF need it"
	if missing, ok := errors.AsType[*rootless.ForbiddenError](err); ok && missing.Remedy != "" {
		f.Text, f.Remedy = fmt.Sprintf("not running as root, and %s", missing.Missing), "run with sudo, or allow user namespaces: "+missing.Remedy
	}
	return f, HostParts()
}

// namespaceWait bounds the look from inside a user namespace.
const namespaceWait = 20 * time.Second

// hostPartsInNamespace is HostParts as root of a user namespace sees it.
func hostPartsInNamespace() (found []Finding, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), namespaceWait)
	defer cancel()
	if err := rootless.Check(ctx); err != nil {
		return nil, err
	}
	var out, errs bytes.Buffer
	status, err := rootless.Run(ctx, rootless.Command{Args: []string{"agent", Role}, Out: &out, Err: &errs})
	switch {
	case err != nil:
		return nil, err
	case status != 0:
		return nil, fmt.Errorf("looking from inside a user namespace: exit status %d: %s", status, bytes.TrimSpace(errs.Bytes()))
	}
	return found, json.Unmarshal(out.Bytes(), &found)
}

// probe is the device that uplinks are tried on.
const probe = "probe0"

func findNamespaces() Finding {
	err := netns.Scratch(probe, func(netlink.Link) error { return nil })
	return Finding{Part: "hosts", Needed: true, Text: "network namespaces and veth pairs"}.
		Unless(err, "no network namespaces or veth pairs", "run as root on a kernel with CONFIG_NET_NS and CONFIG_VETH")
}

// findUplinks tries what hosts are held to their link's rate with.
func findUplinks() Finding {
	err := netns.Scratch(probe, func(link netlink.Link) error {
		const rate, burst = 1e6, 1e4 // bytes a second, bytes
		return netlink.QdiscReplace(&netlink.Tbf{
			QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Parent: netlink.HANDLE_ROOT},
			Rate:       rate,
			Limit:      burst,
			Buffer:     netlink.Xmittime(rate, burst),
		})
	})
	return Finding{Part: "uplinks", Needed: true, Text: "token buckets (tbf) hold hosts to their link's rate"}.
		Unless(err, "no token buckets (tbf)", "run as root on a kernel with CONFIG_NET_SCH_TBF")
}

func findPackets() Finding {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = errors.Join(unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V2), unix.Close(fd))
	}
	return Finding{Part: "switch", Needed: true, Text: "packet sockets (TPACKET_V2 rings)"}.
		Unless(err, "no packet sockets", "run as root on a kernel with CONFIG_PACKET")
}

func findCPUs() Finding {
	c, err := testbed.SplitCPUs(1)
	switch {
	case err != nil:
		return Finding{Part: "CPUs", Text: err.Error()}
	case len(c.Switches) == 0:
		return Finding{Part: "CPUs", Text: "a single CPU: switch and hosts share it", Remedy: "expect a large dilation; two CPUs or more are better"}
	}
	return Finding{Part: "CPUs", OK: true, Text: fmt.Sprintf("CPU %v for the switch, which polls there while it runs unless others want it, %v for the hosts", c.Switches[0], c.Hosts)}
}

// findPriority tries what has other programs wait for the switch.
func findPriority() Finding {
	err := wire.CanRealTime()
	remedy := "run as root with CAP_SYS_NICE, or with a limit of real-time priorities above 0 (ulimit -r), or where nothing else runs"
	if errors.Is(err, unix.EPERM) {
		groups, _ := os.ReadFile("/proc/self/cgroup") // of what cannot be read, nothing more is said
		mounts, _ := os.ReadFile("/proc/self/mounts")
		if file := withoutRealTime(string(groups), string(mounts)); file != "" {
			remedy = "give its cgroup, and those above it, time for such threads: echo 950000 > " + file + "; or start it in one that has some"
		}
	}
	return Finding{Part: "priority", Text: "the switch goes before all other programs on its CPU"}.
		Unless(err, "other programs can keep the switch from its CPU: no real-time threads", remedy)
}

// loadWindow is how long to look for programs that are busy.
const loadWindow = 500 * time.Millisecond

// findLoad says who has used the CPUs since before.
func findLoad(before host.Load, unread error) Finding {
	time.Sleep(max(0, loadWindow-time.Since(before.Begun)))
	now, err := host.ReadLoad()
	if err := cmp.Or(unread, err); err != nil {
		return Finding{Part: "load", Text: err.Error()}
	}
	if others := now.Others(before, os.Getpid()); others != "" {
		return Finding{Part: "load", Text: others, Remedy: "runs go on beside them, but may be low-fidelity; stop them for figures that count"}
	}
	return Finding{Part: "load", OK: true, Text: "no other program keeps the CPUs busy"}
}

func findTransports() []Finding {
	all, err := cc.Probe()
	if err != nil {
		return []Finding{{Part: "transports", Text: err.Error()}}
	}
	var found []Finding
	for _, s := range all {
		f := Finding{Part: "transport " + s.Transport, OK: s.Provider != "", Text: fmt.Sprintf("from the %s", s.Provider)}
		var missing *cc.UnsupportedError
		switch {
		case errors.As(s.Missing, &missing):
			f.Text, f.Remedy = fmt.Sprintf("needs %s", missing.Missing), missing.Remedy
		case s.Missing != nil:
			f.Text = s.Missing.Error()
		case s.Provider == cc.EBPF:
			f.Text = "from aqmlab's own eBPF program: the kernel has none"
		case s.Module != "":
			f.Text = "from the kernel's module " + s.Module
		}
		found = append(found, f)
	}
	return found
}

// findDelay says what makes the base RTTs that are drawn, for a host or a flow.
func findDelay() Finding {
	f := Finding{Part: "base RTT", OK: true, Text: "netem holds back what is drawn for a host or a flow"}
	if err := netns.CanDelay(); err != nil {
		f.Text = fmt.Sprintf("the switch's delay line holds back what is drawn for a host or a flow; netem cannot: %v", err)
	}
	return f
}

// backlogWanted is how many frames a CPU should be able to owe before it loses
// any: those of tens of milliseconds at 1 Gbps, for which a virtual machine's CPU
// may be away.
const backlogWanted = 10000

// findBacklog looks at how many frames a CPU that is late may owe.
func findBacklog() Finding {
	const key = "net.core.netdev_max_backlog"
	text, err := host.Sysctl(key)
	if err != nil {
		return Finding{Part: "receive backlog", Text: err.Error()}
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return Finding{Part: "receive backlog", Text: fmt.Sprintf("%s is %q", key, text)}
	}
	f := Finding{Part: "receive backlog", OK: n >= backlogWanted, Text: fmt.Sprintf("a CPU may owe %d frames before it loses some", n)}
	if !f.OK {
		f.Remedy = fmt.Sprintf("if runs are low-fidelity for lost frames: sysctl -w %s=%d", key, backlogWanted)
	}
	return f
}

// findTimers says how fine the kernel's TCP timers are.
func findTimers() Finding {
	var res unix.Timespec
	// CLOCK_MONOTONIC_COARSE advances with the kernel's tick.
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &res); err != nil {
		return Finding{Part: "TCP timers", Text: fmt.Sprintf("resolution unknown: %v", err)}
	}
	tick := res.Nano()
	f := Finding{Part: "TCP timers", OK: tick <= 1e6, Text: fmt.Sprintf("a tick of %.3g ms (CONFIG_HZ=%d): RTOmin and delayed ACKs are rounded to it", float64(tick)/1e6, int64(1e9)/tick)}
	if !f.OK {
		f.Remedy = "a dilation above 1 makes them finer in lab time"
	}
	return f
}
