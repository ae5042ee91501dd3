package netns_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/netns"
)

// forwarder is the least switch that connects a lab's hosts: it sends a frame
// to the host that has its IP destination, with that host's MAC, as a router
// does, and counts what it sees.
type forwarder struct {
	lab     *netns.Lab
	ports   map[netip.Addr]int // sockets
	hosts   map[netip.Addr]netns.Host
	ip      atomic.Int64 // IPv4 frames forwarded
	others  atomic.Int64 // frames of any other kind: ARP, IPv6
	largest atomic.Int64 // network-layer bytes of the largest frame
	stop    atomic.Bool
}

// forward runs a forwarder for the lab until the test's end.
func forward(t *testing.T, lab *netns.Lab) *forwarder {
	t.Helper()
	f := &forwarder{lab: lab, ports: make(map[netip.Addr]int), hosts: make(map[netip.Addr]netns.Host)}
	in(t, lab.Switches[0], f.open)
	var all sync.WaitGroup
	for _, fd := range f.ports {
		all.Go(func() { f.run(fd) })
	}
	t.Cleanup(func() {
		f.stop.Store(true)
		all.Wait()
		for _, fd := range f.ports {
			_ = unix.Close(fd)
		}
	})
	return f
}

func (f *forwarder) open() error {
	for _, h := range f.lab.Hosts {
		device, err := net.InterfaceByName(h.Name)
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		f.ports[h.Addr], f.hosts[h.Addr] = fd, h
		for _, a := range h.Also {
			f.hosts[a] = h
		}
		all := binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, unix.ETH_P_ALL))
		err = errors.Join(
			unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
			unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 20_000}),
			unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: device.Index}),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *forwarder) run(fd int) {
	frame := make([]byte, 1<<16)
	for !f.stop.Load() {
		n, err := unix.Read(fd, frame)
		if err != nil {
			continue // the time-out that lets it look at stop
		}
		f.send(frame[:n])
	}
}

func (f *forwarder) send(frame []byte) {
	const header, destination = 14, 30
	if len(frame) < header+20 || binary.BigEndian.Uint16(frame[12:]) != unix.ETH_P_IP {
		f.others.Add(1)
		return
	}
	f.ip.Add(1)
	f.largest.Store(max(f.largest.Load(), int64(len(frame)-header)))
	to := netip.AddrFrom4([4]byte(frame[destination:]))
	h, ok := f.hosts[to]
	if !ok {
		return
	}
	copy(frame, h.MAC[:])
	copy(frame[6:], h.Gateway[:])
	_, _ = unix.Write(f.ports[h.Addr], frame)
}

// TestTraffic moves data between all pairs of hosts.
func TestTraffic(t *testing.T) {
	p := plan(3)
	lab := up(t, p)
	f := forward(t, lab)
	for i := range lab.Hosts {
		transfer(t, lab.Hosts[i], lab.Hosts[(i+1)%len(lab.Hosts)])
	}
	if f.ip.Load() == 0 || f.others.Load() != 0 {
		t.Errorf("switch saw %d IPv4 frames and %d others; want no ARP and no IPv6", f.ip.Load(), f.others.Load())
	}
	if got := f.largest.Load(); got != int64(p.MTU) {
		t.Errorf("largest packet is %d bytes, want the MTU, %d", got, p.MTU)
	}
	if c, err := netns.Counters(lab.Switches[0]); err != nil || c.ECT0Packets != 0 {
		t.Errorf("the stack of the switch's namespace took %d of the packets that the switch received (%v), want none", c.ECT0Packets, err)
	}
	for _, h := range lab.Hosts {
		c, err := netns.Counters(h.Namespace)
		if err != nil {
			t.Fatal(err)
		}
		if c.ChecksumErrors != 0 || c.ECT0Packets == 0 || c.SegmentsOut == 0 {
			t.Errorf("%s counted %+v; want ECN-capable packets and no bad checksums", h.Name, c)
		}
	}
}

// transfer sends some data from one host to the other by TCP.
func transfer(t *testing.T, from, to netns.Host) {
	t.Helper()
	data := bytes.Repeat([]byte("aqmlab"), 50_000)
	var listener net.Listener
	in(t, to.Namespace, func() (err error) {
		listener, err = net.Listen("tcp4", netip.AddrPortFrom(to.Addr, 0).String())
		return err
	})
	defer listener.Close()
	var client net.Conn
	in(t, from.Namespace, func() (err error) {
		client, err = net.DialTimeout("tcp4", listener.Addr().String(), 10*time.Second)
		return err
	})
	if t.Failed() {
		t.FailNow()
	}
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var wait sync.WaitGroup
	wait.Go(func() {
		_, err := client.Write(data)
		if err := errors.Join(err, client.Close()); err != nil {
			t.Error(err)
		}
	})
	got, err := io.ReadAll(server)
	wait.Wait()
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%s to %s: %d bytes arrived of %d, %v", from.Name, to.Name, len(got), len(data), err)
	}
}
