package live

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"aqmlab/collectors/meter"
	"aqmlab/trafficgen/traffic"
)

// Sort is how hosts of a transport send.
type Sort uint8

const (
	// Stream is by connections of TCP.
	Stream Sort = iota
	// Datagrams is by UDP, at the rate of the flow, whatever the network does.
	Datagrams
)

const (
	// linger is the lab time after the stop of a flow of datagrams in which what was sent
	// may still come. Modelled hosts wait for as long.
	linger = time.Second
	// askAgain is the wall time after which a request is sent again, if nothing has come.
	askAgain = 200 * time.Millisecond
	// datagramBuffer is the memory in which the kernel keeps datagrams until the client,
	// which may wake up late, takes them.
	datagramBuffer = 8 << 20
)

// Why a flow of datagrams failed.
var (
	errNoDatagram = errors.New("no datagram came")
	errForeign    = errors.New("a datagram of something else came")
)

// errOver is returned for a datagram that says that no more follow.
var errOver = errors.New("the server sends no more")

// checkDatagrams wants what flows of datagrams need. Nothing else bounds what they send.
func (cfg Config) checkDatagrams(sorts []Sort) error {
	for _, f := range cfg.Flows {
		switch {
		case f.Transport < 0 || f.Transport >= len(sorts):
			return fmt.Errorf("flow %d: transport %d is outside 0 to %d", f.ID, f.Transport, len(sorts)-1)
		case sorts[f.Transport] != Datagrams:
		case f.Rate <= 0 || f.Stop <= 0:
			return fmt.Errorf("flow %d: datagrams need a rate and a time to stop", f.ID)
		case cfg.Datagram < responseSize || cfg.Datagram > 1<<16-1:
			return fmt.Errorf("a full datagram of %d bytes is outside %d to %d", cfg.Datagram, responseSize, 1<<16-1)
		}
	}
	return nil
}

// listener is the client's end of a flow of datagrams.
type listener struct {
	*net.UDPConn
	options
	flow  traffic.Flow
	buf   []byte
	ask   [requestSize]byte
	sent  time.Time // just before the first request
	last  time.Time // when a datagram last came; zero: none has
	began int64     // when the server began, by the system's monotonic clock
	bytes int64     // payload that came
}

// listen asks for the datagrams of a flow, takes them until no more can come, and writes
// the record.
func (r *run) listen(ctx context.Context, i int) {
	f, rec := r.cfg.Flows[i], &r.records[i]
	conn, err := r.network.Dial(ctx, f.Client, f.Server, f.Transport)
	if err != nil {
		r.fail(i, because(ctx, fmt.Errorf("connecting %v: %w", endsOf(&f), err)))
		return
	}
	if !r.pool.open.add(conn) {
		r.fail(i, because(ctx, errClosed))
		return
	}
	defer r.pool.open.close(conn)
	l, err := newListener(conn, f, r.cfg.Datagram)
	if err == nil {
		err = r.takeDatagrams(l, meter.Of(rec))
	}
	began := l.sent
	if f.Push && err == nil {
		began, err = r.pushed(l.began, l.sent, l.last)
	}
	rec.Sent, rec.Received = r.lab(began.Sub(r.start)), l.bytes
	if err != nil {
		r.fail(i, because(ctx, err))
		return
	}
	rec.Bytes, rec.FCT = l.bytes, r.lab(l.last.Sub(began))
	r.completed.Add(1)
	r.end(*rec)
}

func newListener(conn net.Conn, f traffic.Flow, size int) (*listener, error) {
	l := &listener{flow: f, buf: make([]byte, size), options: options{tos: -1}}
	var ok bool
	if l.UDPConn, ok = conn.(*net.UDPConn); !ok {
		return l, fmt.Errorf("%T is no socket of UDP", conn)
	}
	var err error
	if l.raw, err = rawConn(l.UDPConn); err != nil {
		return l, err
	}
	// Without the right to exceed the host's bound, the kernel gives what it has.
	if l.set("SO_RCVBUFFORCE", unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, datagramBuffer) != nil {
		err = l.set("SO_RCVBUF", unix.SOL_SOCKET, unix.SO_RCVBUF, datagramBuffer)
	}
	return l, err
}

// takeDatagrams takes what comes until all has, or no more can.
func (r *run) takeDatagrams(l *listener, of meter.For) error {
	end := r.wall(l.flow.Stop + linger)
	for l.bytes < l.flow.Bytes {
		deadline := end
		if l.last.IsZero() {
			if err := r.ask(l); err != nil {
				return err
			}
			if again := time.Now().Add(askAgain); again.Before(end) {
				deadline = again
			}
		}
		if err := l.SetReadDeadline(deadline); err != nil {
			return err
		}
		for l.bytes < l.flow.Bytes {
			n, err := l.take()
			if errors.Is(err, os.ErrDeadlineExceeded) && deadline != end {
				break
			}
			if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, errOver) {
				return l.over()
			}
			if err != nil {
				return err
			}
			r.arrived(of, n)
			if deadline != end { // the first
				deadline = end
				if err := l.SetReadDeadline(end); err != nil {
					return err
				}
			}
		}
	}
	return l.over()
}

// over is whether a flow is whole of which no more can come.
func (l *listener) over() error {
	if l.last.IsZero() {
		return errNoDatagram
	}
	return l.checkDrops()
}

// ask sends the request of a flow of datagrams.
func (r *run) ask(l *listener) error {
	q := r.request(l.flow)
	q.gap = uint16(len(l.buf))
	q.put(&l.ask)
	if err := l.setTOS(int(q.dscp(0)) << 2); err != nil {
		return err
	}
	if l.sent.IsZero() {
		l.sent = time.Now()
	}
	if _, err := l.Write(l.ask[:]); err != nil {
		return fmt.Errorf("sending the request: %w", err)
	}
	return nil
}

// take takes one datagram.
func (l *listener) take() (payload int64, err error) {
	n, err := l.Read(l.buf)
	if err != nil {
		return 0, fmt.Errorf("reading a datagram: %w", err)
	}
	if known := min(n, idSize); !bytes.Equal(l.buf[:known], l.ask[:known]) {
		return 0, errForeign
	}
	if n >= responseSize {
		began := int64(binary.BigEndian.Uint64(l.buf[idSize:]))
		if began == 0 {
			return 0, errOver
		}
		l.began = began
	}
	l.last = time.Now()
	l.bytes += int64(n)
	return int64(n), nil
}

// checkDrops fails a flow of which this host itself lost datagrams: those are no losses of
// the network.
func (l *listener) checkDrops() error {
	var info [16]uint32 // SK_MEMINFO_VARS are fewer
	length := uint32(unsafe.Sizeof(info))
	err := control(l.raw, func(fd int) error {
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&info[0])), uintptr(unsafe.Pointer(&length)), 0)
		if errno != 0 {
			return os.NewSyscallError("getsockopt", errno)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading SO_MEMINFO: %w", err)
	}
	if drops := info[unix.SK_MEMINFO_DROPS]; length > 4*unix.SK_MEMINFO_DROPS && drops > 0 {
		return fmt.Errorf("the client woke up too late for %d datagrams, which its kernel had no more room for", drops)
	}
	return nil
}
