package live

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

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
	if r.request.lasts == 0 {
		return r.send(r.head[:], 0)
	}
	return r.sendUntil(time.Now().Add(r.request.lasts))
}

// sendUntil answers the request until the whole response is written or the time
// has come.
func (r *responder) sendUntil(stop time.Time) error {
	if err := r.setBacklog(stopBacklog); err != nil {
		return err
	}
	if err := r.setDSCP(r.request.dscp(0)); err != nil {
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
		end := min(q.bytes, q.tagging().Until(at))
		if at > 0 {
			if err := r.drain(backlog); err != nil {
				return err
			}
		}
		if err := r.setDSCP(q.dscp(at)); err != nil {
			return err
		}
		if err := r.write(head, end-at); err != nil {
			return err
		}
		head, at = nil, end
	}
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
