package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
	"strings"
)

// ErrNoMethod is the error for a method that the agent does not have: it is of another
// version of the program.
var ErrNoMethod = errors.New("the agent has no such method")

// Client is a connection to an agent. It is safe for use by several
// goroutines.
type Client struct{ rpc *rpc.Client }

// Dial connects to the detached agent whose control socket is at path.
func Dial(ctx context.Context, path string) (*Client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("connect to agent: %w", err)
	}
	return newClient(conn), nil
}

func newClient(conn io.ReadWriteCloser) *Client {
	return &Client{jsonrpc.NewClient(conn)}
}

// Call calls a method of the agent's service and waits for its reply, which
// must be a pointer, or for the end of ctx. The agent goes on with a call that
// was given up.
func (c *Client) Call(ctx context.Context, method string, args, reply any) error {
	return c.call(ctx, serviceName+"."+method, args, reply)
}

// Quit asks the agent to end. It may be gone before it has answered, which is
// no error.
func (c *Client) Quit(ctx context.Context) error {
	err := c.call(ctx, controlName+".Quit", Nothing{}, &Nothing{})
	if disconnected(err) {
		return nil
	}
	return err
}

// ping tells whether the agent answers.
func (c *Client) ping(ctx context.Context) error {
	return c.call(ctx, controlName+".Ping", Nothing{}, &Nothing{})
}

func (c *Client) call(ctx context.Context, method string, args, reply any) error {
	call := c.rpc.Go(method, args, reply, make(chan *rpc.Call, 1))
	select {
	case <-call.Done:
		err := call.Error
		if err == nil {
			return nil
		}
		var said rpc.ServerError
		if errors.As(err, &said) && strings.HasPrefix(string(said), "rpc: can't find ") {
			err = ErrNoMethod
		}
		return fmt.Errorf("call %s: %w", method, err)
	case <-ctx.Done():
		return fmt.Errorf("call %s: %w", method, context.Cause(ctx))
	}
}

// disconnected tells whether a call failed for want of an agent, and not
// because the agent said so.
func disconnected(err error) bool {
	var op *net.OpError
	return errors.Is(err, rpc.ErrShutdown) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.As(err, &op)
}

// Close ends the connection, not the agent.
func (c *Client) Close() error {
	err := c.rpc.Close()
	if errors.Is(err, rpc.ErrShutdown) {
		return nil // the agent was faster
	}
	return err
}
