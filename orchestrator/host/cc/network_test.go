package cc

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// needsRoot skips a test that must create namespaces and load programs.
func needsRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("network namespaces and BPF programs need root")
	}
	if _, err := os.Stat(btfPath); err != nil {
		t.Skip("the kernel has no BTF")
	}
}

// network is a client and a server in namespaces of their own.
type network struct {
	client, server *namespace
	wire           *wire
}

// namespace is one end of the network. Its only link is the TUN device "wire".
type namespace struct {
	fd   netns.NsHandle
	nl   *netlink.Handle
	link netlink.Link
	ip   net.IP
	tun  int // the other side of the link
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	needsRoot(t)
	n := &network{
		client: newNamespace(t, net.IPv4(10, 77, 0, 1)),
		server: newNamespace(t, net.IPv4(10, 77, 0, 2)),
	}
	for _, ns := range []*namespace{n.client, n.server} {
		// No tail loss probes: they go by the clock, and a busy machine would
		// have TCP send twice what is merely waiting on the wire.
		ns.sysctl(t, "tcp_early_retrans", "0")
	}
	n.wire = newWire(t, n.client.tun, n.server.tun)
	return n
}

func newNamespace(t *testing.T, ip net.IP) *namespace {
	t.Helper()
	ns := &namespace{ip: ip}
	onThread(t, func() (err error) {
		if ns.fd, err = netns.New(); err != nil {
			return err
		}
		ns.tun, err = newTUN("wire")
		return err
	})
	t.Cleanup(func() { must(t, errors.Join(unix.Close(ns.tun), ns.fd.Close())) })
	var err error
	ns.nl, err = netlink.NewHandleAt(ns.fd, unix.NETLINK_ROUTE)
	must(t, err)
	t.Cleanup(ns.nl.Close)
	ns.link, err = ns.nl.LinkByName("wire")
	must(t, err)
	must(t, ns.nl.AddrAdd(ns.link, &netlink.Addr{IPNet: &net.IPNet{IP: ip, Mask: net.CIDRMask(24, 32)}}))
	must(t, ns.nl.LinkSetUp(ns.link))
	return ns
}

// newTUN makes a device in the calling thread's namespace that lasts as long as
// the descriptor. It has no offloads: TCP sends what is on the wire.
func newTUN(name string) (int, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	request, err := unix.NewIfreq(name)
	if err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// do runs f in the namespace.
func (ns *namespace) do(t *testing.T, f func() error) {
	t.Helper()
	onThread(t, func() error { return errors.Join(netns.Set(ns.fd), f()) })
}

// sysctl sets a variable of net.ipv4 in the namespace.
func (ns *namespace) sysctl(t *testing.T, name, value string) {
	t.Helper()
	ns.do(t, func() error {
		return os.WriteFile(filepath.Join("/proc/sys/net/ipv4", name), []byte(value), 0)
	})
}

// inCE is how many CE-marked IP packets the namespace has received.
func (ns *namespace) inCE(t *testing.T) (n uint32) {
	t.Helper()
	ns.do(t, func() error {
		text, err := os.ReadFile("/proc/thread-self/net/netstat")
		if err != nil {
			return err
		}
		n = ipExt(t, string(text), "InCEPkts")
		return nil
	})
	return n
}

// ipExt picks a counter from the two IpExt lines, names and values.
func ipExt(t *testing.T, netstat, name string) uint32 {
	t.Helper()
	var names []string
	for line := range strings.Lines(netstat) {
		fields := strings.Fields(line)
		switch {
		case fields[0] != "IpExt:":
		case names == nil:
			names = fields
		default:
			for i, f := range fields {
				if names[i] == name {
					n, err := strconv.ParseUint(f, 10, 32)
					must(t, err)
					return uint32(n)
				}
			}
		}
	}
	t.Fatalf("no counter %s in netstat", name)
	return 0
}

// onThread runs f on a thread that is not used again, whatever f does to it.
func onThread(t *testing.T, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with us
		done <- f()
	}()
	must(t, <-done)
}

// connect opens a connection from client to server. An empty name leaves the
// choice of the congestion control to the namespace.
func (n *network) connect(t *testing.T, clientCC, serverCC string) (client, server *net.TCPConn) {
	t.Helper()
	var listener net.Listener
	n.server.do(t, func() (err error) {
		config := net.ListenConfig{Control: smallSocket(serverCC)}
		config.SetMultipathTCP(false)
		listener, err = config.Listen(context.Background(), "tcp4", net.JoinHostPort(n.server.ip.String(), "0"))
		return err
	})
	defer listener.Close()
	n.client.do(t, func() error {
		conn, err := (&net.Dialer{Control: smallSocket(clientCC)}).Dial("tcp4", listener.Addr().String())
		if err != nil {
			return err
		}
		client = conn.(*net.TCPConn)
		return nil
	})
	conn, err := listener.Accept()
	must(t, err)
	server = conn.(*net.TCPConn)
	go serve(server)
	t.Cleanup(func() { must(t, errors.Join(client.Close(), server.Close())) })
	return client, server
}

// smallSocket sets the congestion control and a receive buffer that bounds the
// window to about a hundred packets, so that a window of data ends soon.
func smallSocket(name string) func(string, string, syscall.RawConn) error {
	return func(_, _ string, conn syscall.RawConn) error {
		var err error
		control := conn.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 128<<10)
			if err == nil && name != "" {
				err = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
			}
		})
		return errors.Join(control, err)
	}
}

// blockSize is what the server answers with one byte.
const blockSize = 32 << 10

// serve answers every block until the connection closes.
func serve(conn net.Conn) {
	block := make([]byte, blockSize)
	for {
		if _, err := io.ReadFull(conn, block); err != nil {
			return
		}
		if _, err := conn.Write(block[:1]); err != nil {
			return
		}
	}
}

// transfer sends blocks from the client as long as more wants it. When it
// returns the server has read them all, and the client has their
// acknowledgments, which came with the answers at the latest.
func transfer(t *testing.T, client net.Conn, more func() bool) {
	t.Helper()
	// Enough blocks under way that the answers never hold the sender up.
	const pipeline = 8
	block := make([]byte, blockSize)
	answer := block[:1]
	waiting := 0
	for more() {
		_, err := client.Write(block)
		must(t, err)
		if waiting++; waiting > pipeline {
			_, err := io.ReadFull(client, answer)
			must(t, err)
			waiting--
		}
	}
	_, err := io.CopyN(io.Discard, client, int64(waiting))
	must(t, err)
}

// must ends the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
