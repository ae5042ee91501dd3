package agent_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"aqmlab/orchestrator/agent"
)

// twice is a service that is called over a stream.
type twice struct{ ctx context.Context }

// Double answers with twice the number.
func (twice) Double(n int, reply *int) error {
	*reply = 2 * n
	return nil
}

// Hang answers at the end.
func (t twice) Hang(agent.Nothing, *agent.Nothing) error {
	<-t.ctx.Done()
	return context.Cause(t.ctx)
}

// station is an agent at the other end of a pipe.
func station(t *testing.T) (s *agent.Stream, ended chan error, pipe net.Conn) {
	near, far := net.Pipe()
	ended = make(chan error, 1)
	go func() {
		ended <- agent.ServeStream(t.Context(), far, func(ctx context.Context) any { return twice{ctx} })
	}()
	return agent.NewStream(near), ended, near
}

func TestStream(t *testing.T) {
	s, ended, _ := station(t)
	var n int
	if err := s.Call(t.Context(), "Double", 21, &n); err != nil || n != 42 {
		t.Errorf("twice 21 is %d, %v", n, err)
	}
	if err := s.Quit(t.Context()); err != nil {
		t.Errorf("quit: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the agent ended with %v", err)
	}
}

// TestStreamOwnerDies: an agent whose owner is gone ends, and so do the calls that it
// has not answered.
func TestStreamOwnerDies(t *testing.T) {
	s, ended, pipe := station(t)
	hung := make(chan error, 1)
	go func() { hung <- s.Call(t.Context(), "Hang", agent.Nothing{}, &agent.Nothing{}) }()
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, agent.ErrOwnerDied) {
		t.Errorf("the agent ended with %v", err)
	}
	if err := <-hung; !errors.Is(err, agent.ErrLost) {
		t.Errorf("the call ended with %v", err)
	}
	<-s.Done()
}

// TestStreamSilent: who hears nothing for long takes the other side for dead, the owner
// before the agent does; a long call on a living stream is none.
func TestStreamSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ended, _ := station(t)
		hung := make(chan error, 1)
		go func() { hung <- s.Call(t.Context(), "Hang", agent.Nothing{}, &agent.Nothing{}) }()
		time.Sleep(5 * time.Minute)
		if err := s.Err(); err != nil {
			t.Errorf("a stream with a long call: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-hung
		<-ended
	})
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, far) }() // it takes all and says nothing
		s := agent.NewStream(near)
		begun := time.Now()
		err := s.Call(t.Context(), "Double", 1, new(int))
		if !errors.Is(err, agent.ErrLost) || time.Since(begun) > 10*time.Second {
			t.Errorf("a silent agent: %v after %v", err, time.Since(begun))
		}
		far.Close()
	})
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		begun := time.Now()
		err := agent.ServeStream(t.Context(), far, func(ctx context.Context) any { return twice{ctx} })
		if !errors.Is(err, agent.ErrOwnerDied) || time.Since(begun) <= 10*time.Second {
			t.Errorf("a silent owner: %v after %v", err, time.Since(begun))
		}
		near.Close()
		far.Close()
	})
}
