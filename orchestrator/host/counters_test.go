package host

import (
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
)

func TestParse(t *testing.T) {
	values := make(map[string]int64)
	text := "Tcp: MaxConn InSegs\nTcp: -1 20\n\nIpExt: InCEPkts\nIpExt: 9223372036854775807\n"
	if err := parse(strings.NewReader(text), values); err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"Tcp MaxConn": -1, "Tcp InSegs": 20, "IpExt InCEPkts": 1<<63 - 1}
	if !maps.Equal(values, want) {
		t.Errorf("parsed %v, want %v", values, want)
	}
	for name, text := range map[string]string{
		"names only":       "Tcp: A B\n",
		"a value short":    "Tcp: A B\nTcp: 1\n",
		"another group":    "Tcp: A\nUdp: 1\n",
		"not a number":     "Tcp: A\nTcp: x\n",
		"beyond all count": "Tcp: A\nTcp: 92233720368547758080\n",
	} {
		if err := parse(strings.NewReader(text), values); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Tcp: A B\nTcp: 1 2\n")
	f.Add(":\n:\n")
	f.Fuzz(func(t *testing.T, text string) {
		_ = parse(strings.NewReader(text), make(map[string]int64)) // must not panic
	})
}

// TestCountersOfTCP counts one connection of the namespace's own.
func TestCountersOfTCP(t *testing.T) {
	inside(t)
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		t.Fatal(err)
	}
	before, err := ReadCounters()
	if err != nil {
		t.Fatal(err)
	}
	if before != (Counters{}) {
		t.Errorf("counters of a new namespace: %+v, want zeros", before)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	after, err := ReadCounters()
	if err != nil {
		t.Fatal(err)
	}
	// A handshake: SYN, SYN-ACK and ACK, all within this namespace.
	if d := after.Sub(before); d.SegmentsIn != 3 || d.SegmentsOut != 3 || d.Retransmits != 0 || d.Timeouts != 0 {
		t.Errorf("counted %+v of a handshake, want 3 segments each way", d)
	}
}

// TestParseDevices: columns as proc_pid_net(5) names them; receive and transmit
// drops of all devices are added up.
func TestParseDevices(t *testing.T) {
	const text = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       2    0    1    0     0          0         0      100       2    0    0    0     0       0          0
  eth0: 5000000    4000    0   20    0     0          0         0  6000000    4100    0  300    0     0       0          0
`
	values := map[string]int64{}
	if err := parseDevices(strings.NewReader(text), values); err != nil || values["Dev drop"] != 321 {
		t.Errorf("counted %v, %v; want 321 drops", values, err)
	}
	if err := parseDevices(strings.NewReader("eth0: 1 2 3\n"), values); err == nil {
		t.Error("no error for a line cut short")
	}
}

func TestCounterThatTheKernelLacks(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"snmp": "Tcp: InSegs\nTcp: 1\n", "netstat": "", "dev": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := readCounters(dir); err == nil || !strings.Contains(err.Error(), "does not count Tcp OutSegs") {
		t.Errorf("error %v; want one that names the counter", err)
	}
	if _, err := readCounters(filepath.Join(dir, "none")); err == nil {
		t.Error("no error without the files")
	}
}
