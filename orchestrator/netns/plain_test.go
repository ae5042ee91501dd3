package netns_test

import (
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/netns"
)

// cable joins two namespaces as containerlab does.
func cable(t *testing.T, at, device, far, peer string) {
	t.Helper()
	cmd := exec.Command("ip", "link", "add", device, "netns", at, "type", "veth", "peer", peer, "netns", far)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ip: %v: %s", err, out)
	}
}

// TestPlainNetwork: two hosts with addresses reach each other over two bridges.
func TestPlainNetwork(t *testing.T) {
	needRoot(t)
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("needs ip, of iproute2")
	}
	var names []string
	for _, node := range []string{"h1", "h2", "s1", "s2"} {
		name := "aqm-plain-" + node
		if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
			t.Fatalf("ip: %v: %s", err, out)
		}
		t.Cleanup(func() {
			if err := netns.Remove([]journal.Entry{{Kind: journal.Namespace, Name: name}}); err != nil {
				t.Error(err)
			}
		})
		names = append(names, name)
	}
	h1, h2, s1, s2 := names[0], names[1], names[2], names[3]
	cable(t, h1, "eth1", s1, "eth1")
	cable(t, h2, "eth1", s2, "eth1")
	cable(t, s1, "eth2", s2, "eth2")
	in := func(name string, f func() error) {
		t.Helper()
		if err := netns.Do(name, f); err != nil {
			t.Fatal(err)
		}
	}
	in(h1, func() error { return netns.AddAddress("eth1", netip.MustParsePrefix("10.9.0.1/16")) })
	in(h2, func() error { return netns.AddAddress("eth1", netip.MustParsePrefix("10.9.0.2/16")) })
	for _, sw := range []string{s1, s2} {
		in(sw, func() error { return netns.Bridge("eth1", "eth2") })
	}
	var heard net.PacketConn
	in(h2, func() (err error) {
		heard, err = net.ListenPacket("udp4", "10.9.0.2:7")
		return err
	})
	defer heard.Close()
	in(h1, func() error {
		c, err := net.Dial("udp4", "10.9.0.2:7")
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.Write([]byte("over two bridges"))
		return err
	})
	if err := heard.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	n, from, err := heard.ReadFrom(b)
	if err != nil || string(b[:n]) != "over two bridges" || !strings.HasPrefix(from.String(), "10.9.0.1:") {
		t.Errorf("heard %q from %v, %v", b[:n], from, err)
	}
}

// TestPlainErrors: errors name what is not there, or is there already.
func TestPlainErrors(t *testing.T) {
	needRoot(t)
	const name = "aqm-plain-x"
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		t.Skipf("ip: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if err := netns.Remove([]journal.Entry{{Kind: journal.Namespace, Name: name}}); err != nil {
			t.Error(err)
		}
	})
	err := netns.Do(name, func() error {
		if err := netns.AddAddress("eth9", netip.MustParsePrefix("10.9.0.1/16")); err == nil || !strings.Contains(err.Error(), "eth9") {
			t.Errorf("address without an interface: %v", err)
		}
		if err := netns.Bridge("eth9"); err == nil || !strings.Contains(err.Error(), "eth9") {
			t.Errorf("bridge without an interface: %v", err)
		}
		if err := netns.Bridge(); err == nil || !strings.Contains(err.Error(), "br0") {
			t.Errorf("bridge made twice: %v", err)
		}
		_, err := netlink.LinkByName("br0")
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
