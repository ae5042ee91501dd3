package netns_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
	"aqmlab/switch/fabric"
)

const ms = time.Millisecond

// delays are the same for n hosts.
func delays(n int, of ...time.Duration) [][]time.Duration {
	return slices.Repeat([][]time.Duration{of}, n)
}

// needNetem skips a test on a kernel without netem. e2e/vm/labtest runs it on one
// that has it.
func needNetem(t *testing.T) {
	t.Helper()
	needRoot(t)
	if err := netns.CanDelay(); err != nil {
		t.Skip(err)
	}
}

// delayed is a lab whose hosts hold back what they send, and its hosts' traffic.
func delayed(t *testing.T, p netns.Plan) (*netns.Lab, *role.Hosts) {
	t.Helper()
	needNetem(t)
	lab := up(t, p)
	forward(t, lab)
	hosts := role.NewHosts(context.Background())
	var ends []role.End
	for _, h := range lab.Hosts {
		ends = append(ends, role.End{Namespace: h.Namespace, Addr: h.Addr})
	}
	if err := hosts.Serve(ends, &agent.Nothing{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hosts.Close(); err != nil {
			t.Error(err)
		}
	})
	return lab, hosts
}

// checkRTTs measures connections between hosts. Each must have the delay of its
// sender, to 5 %, and what the machine takes, but not that of its receiver.
func checkRTTs(t *testing.T, hosts *role.Hosts, p netns.Plan, pairs ...[2]int) {
	t.Helper()
	var rtts []role.RTT
	if err := hosts.BaseRTT(pairs, &rtts); err != nil {
		t.Fatal(err)
	}
	const machine = ms / 2
	for i, rtt := range rtts {
		want := fabric.Host{Delays: p.Delays[pairs[i][0]]}.Delay(rtt.Src, rtt.Dst)
		if rtt.Least < want || rtt.Least > want+want/20+machine {
			t.Errorf("RTT of %v to %v is %v, want %v", rtt.Src, rtt.Dst, rtt.Least, want)
		}
	}
}

// TestNetemPerHost: every host holds back its own packets by its own time, which
// can be changed.
func TestNetemPerHost(t *testing.T) {
	p := plan(3)
	p.Delays = [][]time.Duration{{20 * ms}, {50 * ms}, {0}}
	lab, hosts := delayed(t, p)
	pairs := [][2]int{{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 0}, {0, 2}}
	checkRTTs(t, hosts, p, pairs...)
	p.Delays = [][]time.Duration{{0}, {10 * ms}, {30 * ms}}
	if err := lab.Retime(p); err != nil {
		t.Fatal(err)
	}
	checkRTTs(t, hosts, p, pairs...)
}

// TestNetemPerFlow: every flow is held back by the time of its class, and the
// classes are hit alike.
func TestNetemPerFlow(t *testing.T) {
	const classes, connections = 128, 64
	p := plan(2)
	all := make([]time.Duration, classes)
	for i := range all {
		all[i] = 10*ms + time.Duration(i)*ms/4
	}
	p.Delays = delays(2, all...)
	lab, hosts := delayed(t, p)
	checkRTTs(t, hosts, p, slices.Repeat([][2]int{{0, 1}}, connections)...)
	slices.Reverse(all)
	if err := lab.Retime(p); err != nil {
		t.Fatal(err)
	}
	checkRTTs(t, hosts, p, slices.Repeat([][2]int{{1, 0}}, connections)...)
}

// TestNetemHostIsAsPlanned: a host with delays is as any other, but for the
// device below eth0.
func TestNetemHostIsAsPlanned(t *testing.T) {
	p := plan(2)
	p.Delays = delays(2, ms)
	needNetem(t)
	lab := up(t, p)
	for _, h := range lab.Hosts {
		in(t, h.Namespace, func() error {
			return errors.Join(checkDevice(h, p), checkOffloads("wire0"), checkRoute(p), checkSysctls())
		})
		checkUplink(t, h, p)
	}
	in(t, lab.Switches[0], func() error { return checkPorts(lab, p) })
}

// TestNetemCarriesTraffic: frames are as without delays, and none is lost.
func TestNetemCarriesTraffic(t *testing.T) {
	p := plan(3)
	p.Uplink = 50e6 // a slow machine's forwarder keeps up with it
	p.Delays = delays(3, 2*ms, 3*ms, 5*ms)
	needNetem(t)
	lab := up(t, p)
	f := forward(t, lab)
	for i := range lab.Hosts {
		transfer(t, lab.Hosts[i], lab.Hosts[(i+1)%len(lab.Hosts)])
	}
	if f.others.Load() != 0 || f.largest.Load() != int64(p.MTU) {
		t.Errorf("switch saw %d frames that are no IPv4, and a largest one of %d bytes, want %d", f.others.Load(), f.largest.Load(), p.MTU)
	}
	for _, h := range lab.Hosts {
		checkUplink(t, h, p)
		c, err := netns.Counters(h.Namespace)
		if err != nil {
			t.Fatal(err)
		}
		if c.ChecksumErrors != 0 || c.Retransmits != 0 || c.DroppedFrames != 0 {
			t.Errorf("%s counted %+v; want nothing lost or damaged", h.Name, c)
		}
	}
}

// TestNetemLeavesSmallQueues: also behind delays TCP keeps only a small queue in
// its host. Nothing is lost or marked here, so that the window grows without
// end; the round trip must not.
func TestNetemLeavesSmallQueues(t *testing.T) {
	const base, enough = 20 * ms, 2000 * 1400 // at 20 Mbps
	p := plan(2)
	p.Uplink = 20e6
	p.Delays = delays(2, base)
	needNetem(t)
	lab := up(t, p)
	forward(t, lab)
	sink, source := connect(t, lab.Hosts[1], lab.Hosts[0])
	done := make(chan int64, 1)
	go func() { done <- discard(sink) }()
	if n, err := source.Write(make([]byte, enough)); err != nil {
		t.Fatalf("%d bytes sent, %v", n, err)
	}
	rtt := smoothedRTT(t, source)
	if err := source.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got != enough {
		t.Errorf("%d bytes arrived of %d", got, enough)
	}
	if rtt < base || rtt > 2*base {
		t.Errorf("round trips of %v while sending, want about %v", rtt, base)
	}
}

// connect opens a connection, and returns both ends.
func connect(t *testing.T, server, client netns.Host) (s, c *net.TCPConn) {
	t.Helper()
	var listener net.Listener
	in(t, server.Namespace, func() (err error) {
		listener, err = net.Listen("tcp4", netip.AddrPortFrom(server.Addr, 0).String())
		return err
	})
	defer listener.Close()
	var dialed net.Conn
	in(t, client.Namespace, func() (err error) {
		dialed, err = net.DialTimeout("tcp4", listener.Addr().String(), 10*time.Second)
		return err
	})
	if t.Failed() {
		t.FailNow()
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { accepted.Close() })
	return accepted.(*net.TCPConn), dialed.(*net.TCPConn)
}

// discard reads to the end and counts.
func discard(c net.Conn) (n int64) {
	buffer := make([]byte, 1<<16)
	for {
		read, err := c.Read(buffer)
		n += int64(read)
		if err != nil {
			return n
		}
	}
}

func smoothedRTT(t *testing.T, c *net.TCPConn) (rtt time.Duration) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		var info *unix.TCPInfo
		if info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			rtt = time.Duration(info.Rtt) * time.Microsecond
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return rtt
}

// TestNetemOfOwners: the namespaces that processes have already, as containers do,
// get their delays like any other.
func TestNetemOfOwners(t *testing.T) {
	p := plan(2)
	p.Delays = [][]time.Duration{{20 * ms}, {50 * ms}}
	needNetem(t)
	p.Owners = map[string]int{"sw": inNewNamespace(t), "h1": inNewNamespace(t), "h2": inNewNamespace(t)}
	_, hosts := delayed(t, p)
	checkRTTs(t, hosts, p, [2]int{0, 1}, [2]int{1, 0})
}
