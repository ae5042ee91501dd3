package netns_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/netns"
)

// TestSpeeches: a connection between further addresses of two hosts has the congestion
// control and the ECN of their transport, whatever that of the hosts is, also after the lab
// was retimed. The host that connects takes its own address of that transport.
func TestSpeeches(t *testing.T) {
	p := plan(2)
	p.Also = []netns.Speech{
		{Subnet: netip.MustParsePrefix("10.8.0.0/16"), Congestion: "cubic"},
		{Subnet: netip.MustParsePrefix("10.9.0.0/16"), Congestion: "cubic", ECN: true},
		{Subnet: netip.MustParsePrefix("10.10.0.0/16"), Congestion: "reno"},
	}
	lab := up(t, p)
	if want := netip.MustParseAddr("10.9.0.2"); lab.Hosts[1].Also[1] != want {
		t.Errorf("the second host is %+v, want %v among its addresses", lab.Hosts[1], want)
	}
	forward(t, lab)
	for range 2 {
		for i, want := range []string{"reno true", "cubic false", "cubic true", "reno false"} {
			from, to := lab.Hosts[0].Addr, lab.Hosts[1].Addr
			if i > 0 {
				from, to = lab.Hosts[0].Also[i-1], lab.Hosts[1].Also[i-1]
			}
			got, at, err := negotiated(t.Context(), lab, to)
			if err != nil || got != want || at != from {
				t.Errorf("to %v: %s from %v, %v; want %s from %v", to, got, at, err, want, from)
			}
		}
		p.TCP.RTOMin = 20 * time.Millisecond
		if err := lab.Retime(p); err != nil {
			t.Fatal(err)
		}
	}
}

// negotiated connects the first host with an address of the second. It tells the congestion
// control of the connection, whether it has ECN, and where it comes from.
func negotiated(ctx context.Context, lab *netns.Lab, to netip.Addr) (what string, from netip.Addr, err error) {
	var l net.Listener
	if err := netns.Do(lab.Hosts[1].Namespace, func() (err error) {
		l, err = net.Listen("tcp4", netip.AddrPortFrom(to, 7).String())
		return err
	}); err != nil {
		return "", from, err
	}
	defer l.Close()
	var c net.Conn
	if err := netns.Do(lab.Hosts[0].Namespace, func() (err error) {
		d := net.Dialer{Timeout: 10 * time.Second}
		c, err = d.DialContext(ctx, "tcp4", l.Addr().String())
		return err
	}); err != nil {
		return "", from, err
	}
	defer c.Close()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return "", from, err
	}
	cerr := raw.Control(func(fd uintptr) {
		name, errName := unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		info, errInfo := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err = errors.Join(errName, errInfo); err == nil {
			const optionECN = 8 // TCPI_OPT_ECN
			what = fmt.Sprint(name, " ", info.Options&optionECN != 0)
		}
	})
	return what, c.LocalAddr().(*net.TCPAddr).AddrPort().Addr(), errors.Join(cerr, err)
}
