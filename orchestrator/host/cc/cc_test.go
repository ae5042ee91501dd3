package cc

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"aqmlab/trafficgen/transport"
)

func TestUniqueName(t *testing.T) {
	for suffix, want := range map[string]string{
		"a":          "dctcp_a",
		"Az09_.xyz":  "dctcp_Az09_.xyz", // 15 bytes, and the NUL
		"Az09_.wxyz": "",
		"":           "",
		"a-b":        "",
		"é":          "",
	} {
		got, err := uniqueName(suffix)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("suffix %q: name %q, error %v, want %q", suffix, got, err, want)
		}
	}
}

func TestRename(t *testing.T) {
	spec, err := loadDctcp()
	must(t, err)
	ops := spec.Maps[dctcpMapDctcp]
	must(t, rename(ops, "dctcp_123456789"))
	value := string(ops.Contents[0].Value.([]byte))
	if !strings.Contains(value, "dctcp_123456789\x00") {
		t.Errorf("tcp_congestion_ops %q has no such name", value)
	}
	must(t, rename(ops, "dctcp_1"))
	if value := string(ops.Contents[0].Value.([]byte)); strings.Contains(value, "23") {
		t.Errorf("tcp_congestion_ops %q has a rest of the longer name", value)
	}
	if err := rename(spec.Maps[dctcpMapDctcpStates], "dctcp_1"); err == nil {
		t.Error("renamed a map that holds no tcp_congestion_ops")
	}
}

func TestExplain(t *testing.T) {
	dctcp := algorithm{Transport: transport.Transport{Name: "dctcp"}, kernel: "dctcp"}
	modern := machine{btf: true, version: 6<<16 | 18<<8}
	for _, tc := range []struct {
		err     error
		machine machine
		want    Requirement
	}{
		{unix.EPERM, modern, NeedPrivilege},
		{unix.EPERM, machine{version: modern.version}, NeedBTF},
		{ebpf.ErrNotSupported, modern, NeedStructOps},
		{unix.EINVAL, machine{btf: true, version: 6<<16 | 255}, NeedStructOps},
		{unix.EINVAL, machine{btf: true, version: 6<<16 | 1<<8}, ""},
		{unix.EINVAL, machine{btf: true}, ""},
		{unix.EEXIST, modern, ""},
	} {
		err := dctcp.explain(tc.err, tc.machine)
		var unsupported *UnsupportedError
		switch {
		case !errors.Is(err, tc.err):
			t.Errorf("%v became %v", tc.err, err)
		case tc.want == "" && err != tc.err:
			t.Errorf("%v on %+v explained as %v", tc.err, tc.machine, err)
		case tc.want == "":
		case !errors.As(err, &unsupported) || unsupported.Missing != tc.want || !errors.Is(err, errors.ErrUnsupported):
			t.Errorf("%v on %+v explained as %v, want missing %s", tc.err, tc.machine, err, tc.want)
		case !strings.Contains(err.Error(), "modprobe tcp_dctcp"):
			t.Errorf("error %q does not say what to do", err)
		}
	}
}

// TestExplainOnLoss: the kernel's own DCTCP is of no use for losses that do not halve.
func TestExplainOnLoss(t *testing.T) {
	a := algorithm{Transport: transport.Transport{Name: "dctcp", DCTCP: transport.DCTCP{OnLoss: transport.OnLossAlpha}}, kernel: "dctcp"}
	err := a.explain(unix.EPERM, machine{btf: true})
	if !strings.Contains(err.Error(), "on_loss: half") || strings.Contains(err.Error(), "modprobe") {
		t.Errorf("error %q does not say what to do", err)
	}
}

// TestNoParameter: a module without the parameter, whose folder in /sys takes no new
// files, is told from one whose parameter may not be set.
func TestNoParameter(t *testing.T) {
	const loaded = "/sys/module/tcp_cubic/parameters" // of nearly every kernel
	if err := setParameter(loaded+"/no_such_parameter", "N"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
}

func TestMissingModule(t *testing.T) {
	a := algorithm{Transport: transport.Transport{Name: "cubic"}, kernel: "cubic"}
	err := a.missingModule()
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "modprobe tcp_cubic") {
		t.Errorf("error %q does not say what to do", err)
	}
}

// TestModelled: no kernel has DCQCN, so no real host may be asked for it.
func TestModelled(t *testing.T) {
	_, err := Acquire(named("dcqcn"), "x")
	var unsupported *UnsupportedError
	if !errors.As(err, &unsupported) || unsupported.Missing != NeedModel || !strings.Contains(err.Error(), "only modelled hosts speak it") {
		t.Errorf("error %v, want missing %s", err, NeedModel)
	}
}

// TestAcquireMissing asks for a congestion control that no kernel has.
func TestAcquireMissing(t *testing.T) {
	a := algorithm{kernel: "nonexistent"}
	_, err := a.acquire("x")
	var unsupported *UnsupportedError
	if !errors.As(err, &unsupported) || unsupported.Missing != NeedModule {
		t.Errorf("error %v, want missing %s", err, NeedModule)
	}
	s, err := a.probe()
	must(t, err)
	if s.Provider != "" || s.Module != "" || !errors.As(s.Missing, &unsupported) {
		t.Errorf("probe of a missing transport: %+v", s)
	}
}

func TestListsModule(t *testing.T) {
	const dep = "kernel/net/ipv4/tcp_bbr.ko.zst:\nkernel/net/ipv4/tcp_dctcp.ko.xz: kernel/x/needed.ko.xz\nextra/plain.ko:\n"
	for name, want := range map[string]bool{
		"tcp_dctcp": true, "tcp_bbr": true, "plain": true, "needed": false, "tcp": false, "tcp_cubic": false,
	} {
		if got := listsModule(dep, name); got != want {
			t.Errorf("module %s listed: %v, want %v", name, got, want)
		}
	}
}

// TestFromKernel: tcp_dctcp_info has alpha in 1/1024 (Linux, tcp_dctcp.c).
func TestFromKernel(t *testing.T) {
	got := fromKernel(&unix.TCPDCTCPInfo{Enabled: 1, Ce_state: 1, Alpha: 256})
	if want := (DCTCP{Alpha: 0.25, CE: true}); got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := fromKernel(&unix.TCPDCTCPInfo{Alpha: 256}); got != nil {
		t.Errorf("connection that fell back has DCTCP state %+v", got)
	}
}

// TestBuiltIn: there is nothing to hold of what the kernel provides.
func TestBuiltIn(t *testing.T) {
	h, err := Acquire(named("reno"), "x")
	must(t, err)
	if h.Name() != "reno" || h.Provider() != Kernel || h.ECN() {
		t.Errorf("reno is %+v", h)
	}
	if files, err := h.LinkFiles(); err != nil || len(files) > 0 {
		t.Errorf("%d link files, %v, want none", len(files), err)
	}
	must(t, h.Offer())
	if h.Common() != "reno" {
		t.Errorf("programs find it as %q", h.Common())
	}
	if _, err := h.StateFile(); !errors.Is(err, ErrStays) {
		t.Errorf("state file: error %v, want ErrStays", err)
	}
	must(t, h.Close())
}

func TestReader(t *testing.T) {
	h, n := acquire(t, "q"), newNetwork(t)
	n.wire.set(plan{mark: 0.5})
	client, _ := n.connect(t, h.Name(), h.Name())
	transfer(t, client, times(50))
	file, err := h.StateFile()
	must(t, err)
	r, err := OpenReader(file)
	must(t, err)
	must(t, file.Close())
	raw, err := client.SyscallConn()
	must(t, err)
	got, err := r.Read(raw)
	must(t, err)
	want := dctcp(t, h, client)
	if got.DCTCP == nil || *got.DCTCP != *want.DCTCP || want.DCTCP.Windows == 0 || want.DCTCP.Reductions == 0 {
		t.Errorf("reader sees %+v, handle sees %+v", got.DCTCP, want.DCTCP)
	}
	must(t, r.Close())
}

func TestReaderWantsTCP(t *testing.T) {
	udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(t, err)
	raw, err := udp.SyscallConn()
	must(t, err)
	if s, err := new(Reader).Read(raw); err == nil {
		t.Errorf("UDP socket has congestion control state %+v", s)
	}
	must(t, udp.Close())
	if _, err := new(Reader).Read(raw); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed socket: error %v, want net.ErrClosed", err)
	}
}

func TestOpenReaderRefuses(t *testing.T) {
	needsRoot(t)
	null, err := os.Open(os.DevNull)
	must(t, err)
	if _, err := OpenReader(null); err == nil {
		t.Error("opened /dev/null as a map")
	}
	must(t, null.Close())
	if _, err := OpenReader(null); !errors.Is(err, fs.ErrClosed) && !errors.Is(err, unix.EBADF) {
		t.Errorf("closed file: error %v", err)
	}
	array, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1})
	must(t, err)
	file, err := duplicateFile(array.FD(), "array")
	must(t, err)
	if _, err := OpenReader(file); err == nil || !strings.Contains(err.Error(), "Array") {
		t.Errorf("array as socket storage: error %v", err)
	}
	must(t, errors.Join(file.Close(), array.Close()))
}

// TestProvided: somebody who may load nothing has what the kernel lists.
func TestProvided(t *testing.T) {
	if err := Provided(named("reno")); err != nil { // every kernel has it
		t.Error(err)
	}
	var unsupported *UnsupportedError
	has, err := kernelHas("dctcp")
	must(t, err)
	if err := Provided(named("dctcp")); has != (err == nil) || err != nil && (!errors.As(err, &unsupported) || !strings.Contains(err.Error(), "modprobe tcp_dctcp") || !strings.Contains(err.Error(), "host.transport: ecn-star")) {
		t.Errorf("the kernel has dctcp: %t; %v", has, err)
	}
	if err := Provided(named("dcqcn")); !errors.As(err, &unsupported) || unsupported.Missing != NeedModel {
		t.Error(err)
	}
}
