package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
)

// Service is what answers an agent's calls, and is closed at its end.
type Service interface{ Close() error }

// Within runs an agent of a command inside of this process, for a [Place] that is this
// process. It is called over its control connection as any other is, and has no descriptors
// but that and the one by which it knows its owner.
func Within(c Command, newService func(context.Context) Service) (Body, error) {
	const usual = firstFD - ownerFD
	if len(c.Files) != usual {
		return nil, fmt.Errorf("an agent inside of its owner's process inherits no files, not %d", len(c.Files)-usual)
	}
	var ends [usual]net.Conn
	for i, file := range c.Files {
		var err error
		if ends[i], err = net.FileConn(file); err != nil { // which is a copy
			for _, end := range ends[:i] {
				end.Close()
			}
			return nil, fmt.Errorf("starting an agent inside of this process: %w", err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &within{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		w.err = serveWithin(ctx, ends[0], ends[1], newService)
	}()
	return w, nil
}

func serveWithin(ctx context.Context, owner, control net.Conn, newService func(context.Context) Service) error {
	defer owner.Close()
	defer control.Close()
	if _, err := readFate(owner); err != nil {
		return err
	}
	var service Service
	err := serve(ctx, func(ctx context.Context) any {
		service = newService(ctx)
		return service
	}, func(s *session) {
		s.calls.Go(func() { s.serveConn(control) })
		<-s.ctx.Done()
	})
	if service != nil {
		err = errors.Join(err, service.Close())
	}
	return err
}

// within is an agent's part of this process.
type within struct {
	cancel context.CancelFunc
	ended  chan struct{} // closed after err is set
	err    error
}

var _ Body = &within{}

func (w *within) PID() int { return os.Getpid() }

func (w *within) Wait() error {
	<-w.ended
	return w.err
}

func (w *within) Kill() error {
	w.cancel()
	return nil
}
