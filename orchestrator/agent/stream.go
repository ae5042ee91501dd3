package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc/jsonrpc"
	"sync"
	"time"
)

// An agent on another machine has no descriptors of its owner's. It has a stream, such as
// its standard input and output, over which it is called, and by which each side knows
// that the other one lives: the owner calls every second at least.
const (
	pingEvery = time.Second
	// silence is how long a side may hear nothing before it takes the other one for dead.
	// That of the agent is longer: its owner is to be the one who tells.
	silence      = 10 * time.Second
	agentSilence = 15 * time.Second
)

// ErrLost is wrapped by the errors of calls over a stream that is no more, or on which
// nobody answers.
var ErrLost = errors.New("it no longer answers")

// ServeStream is [Serve] for an agent on another machine than its owner. It answers the
// calls that come over the stream until the owner asks it to quit (then it returns nil),
// the stream ends or stays silent (ErrOwnerDied), or ctx ends.
func ServeStream(ctx context.Context, stream io.ReadWriteCloser, newService func(context.Context) any) error {
	return serve(ctx, newService, func(s *session) {
		dead := time.AfterFunc(agentSilence, func() {
			s.cancel(fmt.Errorf("%w: nothing came for %v", ErrOwnerDied, agentSilence))
		})
		heard := &heedful{stream, func() { dead.Reset(agentSilence) }}
		s.calls.Go(func() {
			s.server.ServeCodec(codec{jsonrpc.NewServerCodec(heard)})
			s.cancel(ErrOwnerDied)
		})
		<-s.ctx.Done()
		dead.Stop()
	})
}

// heedful is a stream that tells when something comes.
type heedful struct {
	io.ReadWriteCloser
	heard func()
}

func (h *heedful) Read(b []byte) (int, error) {
	n, err := h.ReadWriteCloser.Read(b)
	if n > 0 {
		h.heard()
	}
	return n, err
}

// Stream is the owner's side of a stream to an agent. It is safe for use by several
// goroutines.
type Stream struct {
	*Client
	over chan struct{} // closed after why is set
	why  error
	once sync.Once
}

// NewStream calls the agent at the other end of a stream, and watches that it answers.
func NewStream(stream io.ReadWriteCloser) *Stream {
	s := &Stream{over: make(chan struct{})}
	dead := time.AfterFunc(silence, func() { s.end(fmt.Errorf("%w: nothing came for %v", ErrLost, silence)) })
	s.Client = newClient(&heedful{stream, func() { dead.Reset(silence) }})
	go s.keepAlive(dead)
	return s
}

// Done is closed when the stream has ended.
func (s *Stream) Done() <-chan struct{} { return s.over }

// Err is why the stream has ended; nil while it has not.
func (s *Stream) Err() error {
	select {
	case <-s.over:
		return s.why
	default:
		return nil
	}
}

// Call calls a method as [Client.Call] does. When the stream ends meanwhile, the error
// wraps ErrLost.
func (s *Stream) Call(ctx context.Context, method string, args, reply any) error {
	err := s.Client.Call(ctx, method, args, reply)
	if err != nil && s.Err() != nil || disconnected(err) {
		s.end(fmt.Errorf("%w: the connection has ended", ErrLost))
		return fmt.Errorf("call %s: %w", method, s.why)
	}
	return err
}

// Close ends the stream, and so the agent.
func (s *Stream) Close() error {
	s.end(fmt.Errorf("%w: it was asked to end", ErrLost))
	return nil
}

func (s *Stream) end(why error) {
	s.once.Do(func() {
		s.why = why
		close(s.over)
		_ = s.Client.Close() // it may have ended
	})
}

// keepAlive has something come all the time, until the stream ends.
func (s *Stream) keepAlive(dead *time.Timer) {
	defer dead.Stop()
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.over:
			return
		}
		go func() {
			if disconnected(s.ping(context.Background())) {
				s.end(fmt.Errorf("%w: the connection has ended", ErrLost))
			}
		}()
	}
}
