package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// zerosSize is how much payload one write hands to the kernel: enough to make
// the cost of the call vanish. Memory that nobody writes is one page of zeros
// mapped over and over, so the size costs no cache.
const zerosSize = 1 << 20

// Server answers requests on behalf of hosts.
type Server struct {
	congestionControl string
	zeros             []byte // what every payload is made of; never written

	ctx    context.Context // of what waits for its time to send
	stop   context.CancelFunc
	ledger ledger
	work   sync.WaitGroup // accepting and serving goroutines
	open   openSet
	mu     sync.Mutex
	errs   []error // guarded by mu
}

// maxErrors bounds what a server remembers of broken connections.
const maxErrors = 16

// Serve listens on every host, for all transports, and answers until Close. The congestion control
// is that of the sockets that send payload, by its kernel name; empty leaves
// the host's default.
func Serve(network Network, hosts []int, congestionControl string) (*Server, error) {
	s := &Server{congestionControl: congestionControl, zeros: make([]byte, zerosSize), ledger: ledger{open: map[*socket]entry{}}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	for _, host := range hosts {
		for transport, sort := range network.Transports() {
			err := s.listen(network, host, transport) // base RTTs are measured by TCP, whatever hosts speak
			if err == nil && sort == Datagrams {
				err = s.listenDatagrams(network, host, transport)
			}
			if err != nil {
				return nil, errors.Join(fmt.Errorf("serving on host %d: %w", host, err), s.Close())
			}
		}
	}
	return s, nil
}

func (s *Server) listen(network Network, host, transport int) error {
	l, err := network.Listen(host, transport)
	if err != nil {
		return err
	}
	s.open.add(l)
	// The listener needs the congestion control too: ECN is agreed on during
	// the handshake, before there is a connection to set it on.
	raw, err := rawConn(l)
	if err != nil {
		return err
	}
	if err := setCongestionControl(raw, s.congestionControl); err != nil {
		return err
	}
	s.work.Go(func() { s.accept(host, l) })
	return nil
}

// Close stops serving, closes every listener and connection, and waits until
// all is quiet. It returns what went wrong on connections that a peer did not
// simply end, the first few errors of them.
func (s *Server) Close() error {
	s.stop()
	s.open.closeAll()
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}

// accept serves what connects. It closes the listener when it cannot go on,
// so that clients are refused rather than left waiting.
func (s *Server) accept(host int, l net.Listener) {
	defer s.open.close(l)
	for {
		c, err := l.Accept()
		if err != nil {
			s.note(host, "accepting a connection", err)
			return
		}
		if !s.open.add(c) {
			return
		}
		s.work.Go(func() {
			defer s.open.close(c)
			s.note(host, "serving "+c.RemoteAddr().String(), s.serve(c))
		})
	}
}

// note remembers an error, unless a peer or Close ended the connection: then
// the client reports the flow.
func (s *Server) note(host int, doing string, err error) {
	if err == nil || ended(err) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errs) < maxErrors {
		s.errs = append(s.errs, fmt.Errorf("host %d: %s: %w", host, doing, err))
	}
}

func ended(err error) bool {
	return errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// serve answers one request after another until the client closes.
func (s *Server) serve(c net.Conn) error {
	sock, err := newSocket(c, s.congestionControl)
	if err != nil {
		return err
	}
	defer s.ledger.end(sock)
	r := responder{socket: sock, zeros: s.zeros}
	for {
		if _, err := io.ReadFull(sock, r.ask[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		if r.request, err = parseRequest(&r.ask); err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		s.ledger.begin(sock, int64(r.request.flow))
		if err := r.respond(); err != nil {
			return fmt.Errorf("sending %d bytes for flow %d: %w", r.request.bytes, r.request.flow, err)
		}
	}
}

// stopBacklog is the most unsent payload that the kernel holds of a flow with a time
// to stop. It is little beside what is on its way, and enough for the server to sleep
// while the kernel sends it.
const stopBacklog = 128 << 10

// responder holds what one connection's responses are written from.
type responder struct {
	*socket
	zeros   []byte
	ask     [requestSize]byte
	request request // what ask says
	message int64   // payload that the responses before had of the same message
	wrote   time.Time
	head    [responseSize]byte
	parts   [2][]byte
	vec     net.Buffers
}

// respond answers the request.
func (r *responder) respond() error {
	now, err := monotonic()
	if err != nil {
		return err
	}
	putAnswer(&r.head, &r.ask, now)
	if err := r.setRate(r.request.rate); err != nil {
		return err
	}
	if err := r.continueMessage(); err != nil {
		return err
	}
	if r.request.lasts == 0 {
		return r.send(r.head[:], 0)
	}
	return r.sendUntil(time.Now().Add(r.request.lasts))
}

// continueMessage decides where in a message the response begins: a silence ends one if
// the client has acknowledged everything (TCN, footnote 5).
func (r *responder) continueMessage() error {
	silence := time.Duration(r.request.gap) * gapUnit
	if silence == 0 {
		r.message = 0
		return nil
	}
	if time.Since(r.wrote) <= silence {
		return nil
	}
	unacked, err := r.unacknowledged()
	if err == nil && unacked == 0 {
		r.message = 0
	}
	return err
}

// dscp is that of the payload at an offset.
func (r *responder) dscp(offset int64) uint8 { return r.request.dscp(r.message + offset) }

// sendUntil answers the request until the whole response is written or the time
// has come.
func (r *responder) sendUntil(stop time.Time) error {
	if err := r.setBacklog(stopBacklog); err != nil {
		return err
	}
	if err := r.setDSCP(r.dscp(0)); err != nil {
		return err
	}
	if _, err := r.Write(r.head[:]); err != nil {
		return err
	}
	if err := r.SetWriteDeadline(stop); err != nil {
		return err
	}
	err := r.send(nil, stopBacklog)
	if err == nil {
		return errors.Join(r.SetWriteDeadline(time.Time{}), r.setBacklog(0))
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	half, ok := r.Conn.(interface{ CloseWrite() error })
	if !ok {
		return fmt.Errorf("%T cannot be closed for writing", r.Conn)
	}
	return half.CloseWrite()
}

// send writes a header, if there is one, and the payload, each part of it with
// its DSCP. The backlog is that of the socket.
func (r *responder) send(head []byte, backlog int) error {
	q := &r.request
	for at := int64(0); at < q.bytes; {
		end := min(q.bytes, q.tagging().Until(r.message+at)-r.message)
		if at > 0 {
			if err := r.drain(backlog); err != nil {
				return err
			}
		}
		if err := r.setDSCP(r.dscp(at)); err != nil {
			return err
		}
		if err := r.write(head, end-at); err != nil {
			return err
		}
		head, at = nil, end
	}
	r.message, r.wrote = r.message+q.bytes, time.Now()
	return nil
}

// write sends a header and n bytes of payload. The first payload goes out in
// one call with the header: without Nagle's algorithm the header alone would
// make a packet of its own.
func (r *responder) write(head []byte, n int64) error {
	if len(head) > 0 {
		first := min(n, int64(len(r.zeros)))
		r.parts = [2][]byte{head, r.zeros[:first]}
		r.vec = r.parts[:]
		if _, err := r.vec.WriteTo(r.Conn); err != nil {
			return err
		}
		n -= first
	}
	for n > 0 {
		wrote, err := r.Write(r.zeros[:min(n, int64(len(r.zeros)))])
		if err != nil {
			return err
		}
		n -= int64(wrote)
	}
	return nil
}
