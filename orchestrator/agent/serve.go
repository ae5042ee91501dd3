package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"reflect"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// File returns the agent's inherited file i, which is Options.Files[i] of its
// owner.
func File(i int) *os.File {
	unix.CloseOnExec(firstFD + i)
	return os.NewFile(uintptr(firstFD+i), fmt.Sprintf("inherited file %d", i))
}

// Serve answers the owner's calls with the methods of a service, as net/rpc
// defines them, until the owner asks it to quit (then it returns nil), the
// owner dies (ErrOwnerDied), or ctx ends. The context that newService gets
// ends at the same time; calls that are running have a second to return. The
// process should end soon after Serve has returned; after its owner's death it
// is made to.
func Serve(ctx context.Context, newService func(context.Context) any) error {
	owner, err := inherit(ownerFD, unix.S_IFSOCK)
	if err != nil {
		return err
	}
	socket, err := inherit(controlFD, unix.S_IFSOCK)
	if err != nil {
		return err
	}
	fate, err := readFate(owner)
	if err != nil {
		return err
	}
	return serve(ctx, newService, func(s *session) {
		if fate != detached {
			go watchOwner(owner, s.cancel) // to the process's end
		}
		if fate == attached {
			go beat(owner) // so, too
		}
		s.cancel(s.acceptAll(socket))
	})
}

// session is the life of one Serve.
type session struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	server *rpc.Server
	calls  sync.WaitGroup // what answers them
}

// serve makes a service, and has listen bring it calls until ctx ends, or the session's
// own context does.
func serve(told context.Context, newService func(context.Context) any, listen func(*session)) error {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(told))
	defer context.AfterFunc(told, func() { cancel(fmt.Errorf("%w: %w", errTold, context.Cause(told))) })()
	s := &session{ctx: ctx, cancel: cancel, server: rpc.NewServer()}
	err := errors.Join(
		s.server.RegisterName(serviceName, newService(ctx)),
		s.server.RegisterName(controlName, &control{quit: func() { cancel(errQuit) }}),
	)
	if err != nil {
		return fmt.Errorf("serve agent: %w", err)
	}
	listen(s)
	<-ctx.Done()
	awaitCalls(&s.calls)
	if cause := context.Cause(ctx); !errors.Is(cause, errQuit) {
		return cause
	}
	return nil
}

// callWait is how long running calls may take to return at the agent's end. It
// is less than grace, so that their owner gets to hear of it.
const callWait = time.Second

func awaitCalls(calls *sync.WaitGroup) {
	returned := make(chan struct{})
	go func() { calls.Wait(); close(returned) }()
	select {
	case <-returned:
	case <-time.After(callWait):
	}
}

// errQuit is the cause of an end that the owner asked for.
var errQuit = errors.New("asked to quit")

// inherit takes over an inherited descriptor, which must be of the given type.
func inherit(fd int, fileType uint32) (*os.File, error) {
	// In a process that no Spawn has made, the descriptor may be the runtime's own:
	// look before touching it.
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil || stat.Mode&unix.S_IFMT != fileType {
		return nil, errors.New("serve agent: agents are started by aqmlab itself")
	}
	unix.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), fmt.Sprintf("inherited file %d", fd)), nil
}

// readFate waits until the owner says how the agent shall live.
func readFate(owner io.Reader) (byte, error) {
	var fate [1]byte
	if _, err := io.ReadFull(owner, fate[:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = ErrOwnerDied
		}
		return 0, fmt.Errorf("serve agent: wait for owner: %w", err)
	}
	return fate[0], nil
}

// watchOwner reads what the owner writes, which is nothing more, until that ends: by
// a reset if the owner has left beats unread.
func watchOwner(owner io.Reader, cancel context.CancelCauseFunc) {
	_, err := io.Copy(io.Discard, owner)
	if err == nil || errors.Is(err, unix.ECONNRESET) {
		err = ErrOwnerDied
	}
	// Should the program hang in its clean-up, it ends all the same: nobody is
	// left to kill it.
	time.AfterFunc(grace, func() { os.Exit(1) })
	cancel(err)
}

// control is what every agent can do.
type control struct{ quit func() }

// Ping tells that the agent answers.
func (c *control) Ping(Nothing, *Nothing) error { return nil }

// Quit makes Serve return.
func (c *control) Quit(Nothing, *Nothing) error {
	c.quit()
	return nil
}

// acceptAll serves the control socket until the session ends. It adds to its calls
// what may still be running then.
func (s *session) acceptAll(socket *os.File) error {
	defer socket.Close() // what follows has its own
	listening, err := unix.GetsockoptInt(controlFD, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
	if err != nil {
		return fmt.Errorf("serve agent: control socket: %w", err)
	}
	if listening == 0 {
		conn, err := net.FileConn(socket)
		if err != nil {
			return fmt.Errorf("serve agent: control socket: %w", err)
		}
		s.calls.Go(func() { s.serveConn(conn) })
		<-s.ctx.Done()
		return nil
	}
	listener, err := net.FileListener(socket)
	if err != nil {
		return fmt.Errorf("serve agent: control socket: %w", err)
	}
	stop := context.AfterFunc(s.ctx, func() { listener.Close() })
	defer stop()
	for {
		conn, err := listener.Accept()
		if s.ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("serve agent: %w", err)
		}
		s.calls.Go(func() { s.serveConn(conn) })
	}
}

// serveConn answers one connection's calls until it or the session ends, and waits for
// those that are running then.
func (s *session) serveConn(conn net.Conn) {
	stop := context.AfterFunc(s.ctx, func() {
		// Only the reading half: what runs may still answer.
		if half, ok := conn.(*net.UnixConn); ok {
			half.CloseRead()
		}
	})
	defer stop()
	s.server.ServeCodec(codec{jsonrpc.NewServerCodec(conn)})
}

// codec answers with an empty list where a method has left its result nil: that is
// null in JSON, which a client takes for an error without a text.
type codec struct{ rpc.ServerCodec }

// WriteResponse writes the answer to one call.
func (c codec) WriteResponse(r *rpc.Response, reply any) error {
	if v := reflect.Indirect(reflect.ValueOf(reply)); v.Kind() == reflect.Slice && v.IsNil() {
		reply = []struct{}{}
	}
	return c.ServerCodec.WriteResponse(r, reply)
}
