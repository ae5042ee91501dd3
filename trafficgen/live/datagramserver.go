package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"time"
)

// source answers the requests for datagrams that come to one socket of a host.
type source struct {
	*net.UDPConn
	options
	ctx context.Context // ends with the server

	sending sync.Mutex // of one datagram, with its DSCP
	asked   sync.Map   // of asking: what is being answered
	work    *sync.WaitGroup
	note    func(what string, err error)
}

// asking tells requests apart: one that is there twice was sent again.
type asking struct {
	from netip.AddrPort
	flow uint64
}

// listenDatagrams answers requests for datagrams of a transport.
func (s *Server) listenDatagrams(network Network, host, transport int) error {
	conn, err := network.ListenDatagrams(host, transport)
	if err != nil {
		return err
	}
	s.open.add(conn)
	raw, err := rawConn(conn)
	if err != nil {
		return err
	}
	d := &source{
		UDPConn: conn, options: options{raw, -1}, ctx: s.ctx, work: &s.work,
		note: func(what string, err error) { s.note(host, what, err) },
	}
	s.work.Go(func() { d.note("reading a request for datagrams", d.answer()) })
	return nil
}

// answer takes requests, until the socket is closed.
func (d *source) answer() error {
	for {
		var ask [requestSize]byte
		n, from, err := d.ReadFromUDPAddrPort(ask[:])
		if err != nil {
			return err
		}
		q, err := parseRequest(&ask)
		switch {
		case n < requestSize || err != nil:
			d.note("reading a request for datagrams", fmt.Errorf("%d bytes: %w", n, errors.Join(errProtocol, err)))
			continue
		case q.rate == 0 || q.lasts == 0 || q.gap < responseSize:
			d.note("reading a request for datagrams", fmt.Errorf("%w: datagrams of %d bytes at %d bytes a second for %v", errProtocol, q.gap, q.rate, q.lasts))
			continue
		}
		who := asking{from, q.flow}
		if _, again := d.asked.LoadOrStore(who, true); again {
			continue
		}
		d.work.Go(func() {
			defer d.asked.Delete(who) // the next run has such flows, too
			d.note(fmt.Sprintf("sending datagrams of flow %d", q.flow), d.send(&q, &ask, from))
		})
	}
}

// send sends the datagrams that are asked for, each when the application would have it,
// until the time to stop. What is late, because this thread was or the host's link is
// slower, follows at once.
func (d *source) send(q *request, ask *[requestSize]byte, to netip.AddrPort) error {
	// The thread is not unlocked: its timer slack ends with it.
	runtime.LockOSThread()
	if err := PreciseThread(); err != nil {
		return err
	}
	now, err := monotonic()
	if err != nil {
		return err
	}
	began := time.Now()
	b := make([]byte, q.gap)
	putAnswer((*[responseSize]byte)(b), ask, now)
	for at := int64(0); at < q.bytes; {
		due := time.Duration(float64(at) / float64(q.rate) * float64(time.Second))
		if max(due, time.Since(began)) >= q.lasts {
			return d.farewell(ask, to, q.dscp(at))
		}
		if err := SleepUntil(d.ctx, began.Add(due)); err != nil {
			return net.ErrClosed // the server was
		}
		n := min(int64(len(b)), q.bytes-at)
		if err := d.write(b[:n], to, q.dscp(at)); err != nil {
			return err
		}
		at += n
	}
	return d.farewell(ask, to, q.dscp(q.bytes-1))
}

const (
	farewells     = 5 // each may be lost
	farewellEvery = 20 * time.Millisecond
)

// farewell tells the client that no more follow, behind what was sent last.
func (d *source) farewell(ask *[requestSize]byte, to netip.AddrPort, dscp uint8) error {
	var b [responseSize]byte
	putAnswer(&b, ask, 0)
	for n := range farewells {
		if n > 0 {
			if err := SleepUntil(d.ctx, time.Now().Add(farewellEvery)); err != nil {
				return net.ErrClosed
			}
		}
		if err := d.write(b[:], to, dscp); err != nil {
			return err
		}
	}
	return nil
}

// write sends one datagram with that DSCP.
func (d *source) write(b []byte, to netip.AddrPort, dscp uint8) error {
	d.sending.Lock()
	defer d.sending.Unlock()
	if err := d.setTOS(int(dscp) << 2); err != nil {
		return err
	}
	_, err := d.WriteToUDPAddrPort(b, to)
	return err
}
