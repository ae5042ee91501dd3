//go:build linux

package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"aqmlab/kind"
	"aqmlab/orchestrator/host"
	"aqmlab/switch/aqm"
	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// bench is a switch namespace with host namespaces around it.
type bench struct {
	sw    netns.NsHandle
	hosts []netns.NsHandle
	ports []PortConfig

	virtual bool // as if the clock stood still while anything runs
}

// in runs f on a thread inside the namespace; the thread ends afterwards.
func in(t testing.TB, ns netns.NsHandle, f func() error) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread dies with its namespace
		if err := netns.Set(ns); err != nil {
			done <- err
			return
		}
		done <- f()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func newNamespace(t testing.TB) netns.NsHandle {
	t.Helper()
	var ns netns.NsHandle
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		var err error
		ns, err = netns.New()
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ns.Close() })
	return ns
}

// hostAddr is the address of host i.
func hostAddr(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 99, 0, byte(i + 1)}) }

func newBench(t testing.TB, hosts int) *bench {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	b := &bench{sw: newNamespace(t)}
	for i := range hosts {
		ns := newNamespace(t)
		b.hosts = append(b.hosts, ns)
		p := PortConfig{
			Interface: fmt.Sprintf("p%d", i),
			MAC:       net.HardwareAddr{2, 0, 0, 0, 1, byte(i)},
			Far:       net.HardwareAddr{2, 0, 0, 0, 2, byte(i)},
		}
		b.ports = append(b.ports, p)
		in(t, b.sw, func() error { return addPort(ns, p) })
		in(t, ns, func() error { return setUpHost(i, hosts, p.MAC) })
	}
	return b
}

func addPort(ns netns.NsHandle, p PortConfig) error {
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0o644); err != nil {
		return err
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.HardwareAddr, attrs.MTU = p.Interface, p.MAC, 1500
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: "eth0", PeerHardwareAddr: p.Far, PeerMTU: 1500, PeerNamespace: netlink.NsFd(int(ns))}
	if err := netlink.LinkAdd(veth); err != nil {
		return err
	}
	link, err := netlink.LinkByName(p.Interface)
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}

func setUpHost(i, hosts int, gateway net.HardwareAddr) error {
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0o644); err != nil {
		return err // else router solicitations are counted as ignored frames
	}
	if err := host.DisableOffloads("eth0"); err != nil {
		return err
	}
	link, err := netlink.LinkByName("eth0")
	if err != nil {
		return err
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return err
	}
	addr, err := netlink.ParseAddr(hostAddr(i).String() + "/24")
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(link, addr); err != nil {
		return err
	}
	for j := range hosts {
		n := &netlink.Neigh{LinkIndex: link.Attrs().Index, IP: hostAddr(j).AsSlice(), HardwareAddr: gateway, State: netlink.NUD_PERMANENT}
		if err := netlink.NeighSet(n); err != nil {
			return err
		}
	}
	return nil
}

// spec is a star of the bench's hosts.
func (b *bench) spec(rate units.Rate, p port.Spec) fabric.Spec {
	s := fabric.Spec{Switches: []string{"s1"}, Port: p}
	for i := range b.hosts {
		name := fmt.Sprintf("h%d", i+1)
		s.Hosts = append(s.Hosts, fabric.Host{Name: name, Addr: hostAddr(i)})
		s.Links = append(s.Links, fabric.Link{A: name, B: "s1", Rate: rate, Delay: 50 * time.Microsecond})
	}
	return s
}

// start runs the switch until the returned function is called.
func (b *bench) start(t testing.TB, spec fabric.Spec, dilation float64) (stop func() Report) {
	t.Helper()
	c := Config{Ports: b.ports, MTU: 1500, CPU: runtime.NumCPU() - 1, Spin: DefaultSpin}
	if b.virtual {
		c.Virtual, c.Spin = true, 0
	}
	var s *Switch
	in(t, b.sw, func() (err error) {
		s, err = Open(c, port.Kinds{})
		return err
	})
	session, err := s.Start(spec, dilation)
	if err != nil {
		t.Fatal(err)
	}
	return func() Report {
		report, err := session.Stop()
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		return report
	}
}

// listen opens a listener inside host i.
func (b *bench) listen(t testing.TB, i int) net.Listener {
	t.Helper()
	var l net.Listener
	in(t, b.hosts[i], func() (err error) {
		l, err = net.Listen("tcp4", netip.AddrPortFrom(hostAddr(i), 5001).String())
		return err
	})
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// dial connects host i to host j with a DSCP and an ECN field of ECT(0) being
// the kernel's business.
func (b *bench) dial(t testing.TB, i, j int, dscp int) net.Conn {
	t.Helper()
	d := net.Dialer{Timeout: 10 * time.Second, Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if cerr := c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TOS, dscp<<2)
			if err == nil {
				err = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
			}
		}); cerr != nil {
			return cerr
		}
		return err
	}}
	var c net.Conn
	in(t, b.hosts[i], func() (err error) {
		c, err = d.Dial("tcp4", netip.AddrPortFrom(hostAddr(j), 5001).String())
		return err
	})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// transfer sends n bytes from c to whatever l accepts, and returns how long
// that took.
func transfer(t testing.TB, l net.Listener, c net.Conn, n int64) time.Duration {
	t.Helper()
	var wg sync.WaitGroup
	var got int64
	wg.Go(func() {
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		if got, err = io.Copy(io.Discard, conn); err != nil {
			t.Error(err)
		}
	})
	start := time.Now()
	if _, err := io.CopyN(c, zeros{}, n); err != nil {
		t.Error(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if got != n {
		t.Errorf("%d of %d bytes arrived", got, n)
	}
	return time.Since(start)
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func queues(n int, scheduler, scheme string) port.Spec {
	return port.Spec{
		Queues:    n,
		Buffer:    96 * units.KB,
		RTTs:      aqm.OneRTT(250 * time.Microsecond),
		Scheduler: kind.Choice{Kind: scheduler},
		Scheme:    kind.Choice{Kind: scheme},
		Limiter:   port.Limiter{RateFraction: 0.995, Bucket: 2500},
	}
}

// TestTransfer moves real TCP data through the switch: every byte arrives,
// every frame is accounted for, and DSCP n waits in queue n.
func TestTransfer(t *testing.T) {
	b := newBench(t, 3)
	for _, dilation := range []float64{1, 4} {
		t.Run(fmt.Sprintf("dilation %v", dilation), func(t *testing.T) {
			stop := b.start(t, b.spec(400*units.Mbps, queues(4, "dwrr", "droptail")), dilation)
			l := b.listen(t, 0)
			const n = 4 << 20
			transfer(t, l, b.dial(t, 1, 0, 3), n)
			r := stop()
			to := portTo(t, r, "h1")
			if to.Queues[3].SentBytes < n || to.Queues[0].Sent+to.Queues[1].Sent+to.Queues[2].Sent != 0 {
				t.Errorf("queues of the port to h1: %+v", to.Queues)
			}
			var enqueued, sent int64
			for _, p := range r.Ports {
				for _, q := range p.Queues {
					enqueued += q.Enqueued
					sent += q.Sent
				}
			}
			if r.EdgeDrops != 0 || r.Ignored != 0 || enqueued-sent > int64(r.Held) || sent < r.Delivered {
				t.Errorf("enqueued %d, sent %d: %+v", enqueued, sent, r)
			}
			if r.Start == 0 || r.Ran <= 0 || r.Busy <= 0 || r.Busy > 1 || r.LatenessP50 > r.LatenessP99 || r.LatenessP99 > r.LatenessMax {
				t.Errorf("implausible report: %+v", r)
			}
		})
	}
}

func portTo(t testing.TB, r Report, far string) fabric.PortCount {
	t.Helper()
	for _, p := range r.Ports {
		if p.Far == far {
			return p
		}
	}
	t.Fatalf("no port to %s in the report", far)
	return fabric.PortCount{}
}

func TestStartRefuses(t *testing.T) {
	b := newBench(t, 2)
	var s *Switch
	in(t, b.sw, func() (err error) {
		s, err = Open(Config{Ports: b.ports, MTU: 1500, CPU: -1}, port.Kinds{})
		return err
	})
	defer s.Close()
	spec := b.spec(units.Gbps, queues(1, "fifo", "droptail"))
	if _, err := s.Start(spec, 0.5); err == nil {
		t.Error("runs faster than the wall clock")
	}
	spec.Port.Scheme.Kind = "blue"
	if _, err := s.Start(spec, 1); err == nil {
		t.Error("runs an unknown scheme")
	}
	spec.Hosts = spec.Hosts[:1]
	if _, err := s.Start(spec, 1); err == nil {
		t.Error("runs with another number of hosts than interfaces")
	}
}

func TestOpenRefuses(t *testing.T) {
	b := newBench(t, 1)
	in(t, b.sw, func() error {
		ports := append(b.ports, PortConfig{Interface: "none"})
		if _, err := Open(Config{Ports: ports, MTU: 1500}, port.Kinds{}); err == nil {
			return fmt.Errorf("opened an interface that does not exist")
		}
		return nil
	})
}

// BenchmarkGoodput is one long flow through an idle port, as a share of what
// the limiter allows.
func BenchmarkGoodput(b *testing.B) {
	bench := newBench(b, 2)
	for _, rate := range []units.Rate{100 * units.Mbps, units.Gbps} {
		b.Run(rate.String(), func(b *testing.B) {
			stop := bench.start(b, bench.spec(rate, queues(1, "fifo", "droptail")), 1)
			l := bench.listen(b, 0)
			c := bench.dial(b, 1, 0, 0)
			n := rate.Bytes(3 * time.Second)
			took := transfer(b, l, c, n)
			r := stop()
			theory := float64(rate) * 0.995 * 1448 / 1538
			b.ReportMetric(float64(n)*8/took.Seconds()/theory, "of-theory")
			b.ReportMetric(float64(r.LatenessP50)/1e3, "p50-late-us")
			b.ReportMetric(float64(r.LatenessP99)/1e3, "p99-late-us")
			b.ReportMetric(r.Busy, "busy")
			b.ReportMetric(float64(r.Clamped), "clamped")
		})
	}
}
