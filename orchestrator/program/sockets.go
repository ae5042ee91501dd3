package program

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/netns"
)

// accountant hears of every TCP connection that ends in a namespace (sock_diag(7)). The
// kernel does not say whose it was; see share.
type accountant struct {
	namespace string
	others    func(port int) bool // of connections that are no program's
	socket    *nl.NetlinkSocket
	done      chan struct{}
	mu        sync.Mutex
	byPort    map[int]*Sockets // by port of the host's end
	err       error
}

// Of linux/sock_diag.h and linux/inet_diag.h.
const (
	destroyedTCP  = 1 // SKNLGRP_INET_TCP_DESTROY
	destroyedTCP6 = 3 // SKNLGRP_INET6_TCP_DESTROY, of those that servers of both families accept
	diagInfo      = 2 // INET_DIAG_INFO: a struct tcp_info
	diagMessage   = 72
	diagPort      = 4 // offset of the ports in a struct inet_diag_msg: of this end, and of the other
)

// newAccountant listens from now on.
func newAccountant(namespace string, others func(port int) bool) (*accountant, error) {
	a := &accountant{namespace: namespace, others: others, done: make(chan struct{}), byPort: make(map[int]*Sockets)}
	err := netns.Do(namespace, func() (err error) {
		a.socket, err = nl.Subscribe(unix.NETLINK_SOCK_DIAG, destroyedTCP, destroyedTCP6)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listening for the ends of connections: %w", err)
	}
	// Many connections may end at once; what does not fit is ENOBUFS, not a wrong count.
	_ = unix.SetsockoptInt(a.socket.GetFd(), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 16<<20) // or as much as one may have
	go a.listen()
	return a, nil
}

func (a *accountant) listen() {
	defer close(a.done)
	for {
		messages, _, err := a.socket.Receive()
		a.mu.Lock()
		if err != nil {
			a.err = err // the end of the socket, if nothing else
			a.mu.Unlock()
			return
		}
		for _, m := range messages {
			c, ok := ended(m.Data)
			if !ok || a.others(c.local) || a.others(c.remote) {
				continue
			}
			of := a.byPort[c.local]
			if of == nil {
				of = new(Sockets)
				a.byPort[c.local] = of
			}
			of.add(c.Sockets)
		}
		a.mu.Unlock()
	}
}

// connection is one that ended.
type connection struct {
	local, remote int // ports
	Sockets
}

// ended reads a message about a connection that ended: a struct inet_diag_msg and
// attributes.
func ended(data []byte) (c connection, ok bool) {
	if len(data) < diagMessage {
		return c, false
	}
	attributes, err := nl.ParseRouteAttr(data[diagMessage:])
	if err != nil {
		return c, false
	}
	i := slices.IndexFunc(attributes, func(a syscall.NetlinkRouteAttr) bool { return a.Attr.Type == diagInfo })
	if i < 0 {
		return c, false
	}
	var info unix.TCPInfo // an older kernel knows less of it, the rest is zero
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&info)), unsafe.Sizeof(info)), attributes[i].Value)
	port := func(at int) int { return int(binary.BigEndian.Uint16(data[at:])) }
	return connection{port(diagPort), port(diagPort + 2), Sockets{
		Sent:        int64(info.Bytes_sent - info.Bytes_retrans),
		Received:    int64(info.Bytes_received),
		Retransmits: int64(info.Total_retrans),
	}}, true
}

// settled bounds the wall time in which the connections of programs that have ended end.
const settled = time.Second

// end waits until no connection is left, and returns what was counted, by port.
func (a *accountant) end() (map[int]*Sockets, error) {
	for begun := time.Now(); time.Since(begun) < settled; time.Sleep(lookEvery) {
		open, err := connected(a.namespace, a.others)
		if err != nil {
			return nil, errors.Join(err, a.close())
		}
		if !open {
			break
		}
	}
	time.Sleep(2 * lookEvery) // the kernel tells by a worker of its own
	a.mu.Lock()
	err := a.err
	a.mu.Unlock()
	if cerr := a.close(); err == nil {
		err = cerr
	}
	return a.byPort, err
}

func (a *accountant) close() error {
	a.socket.Close()
	<-a.done
	return nil
}

// share gives the connections of a host to its programs. One that can be of several is
// counted for none of them.
func share(byPort map[int]*Sockets, on []*running) {
	var asking []*running // those that a connection is of at whose port nobody listens
	for _, p := range on {
		p.result.Counted = true
		if len(p.Listens) == 0 {
			asking = append(asking, p)
		}
	}
	if asking == nil {
		asking = on // servers may ask others
	}
	for port, s := range byPort {
		of := asking
		if i := slices.IndexFunc(on, func(p *running) bool { return slices.Contains(p.Listens, port) }); i >= 0 {
			of = on[i : i+1]
		}
		for _, p := range of {
			p.result.Sockets.add(*s)
			p.result.Counted = p.result.Counted && len(of) == 1
		}
	}
}
