// Package machines knows the machines that one lab lies on: it calls their Docker daemons,
// and says which part of the lab each gets.
package machines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docker/docker/client"

	"aqmlab/labs/inventory"
)

// answerWait bounds how long a daemon may take for its first answer: ssh may try several
// keys and addresses.
const answerWait = 30 * time.Second

// Client is a client of a machine's Docker daemon, which has answered. The errors for one
// that does not are [UnreachableError].
func Client(ctx context.Context, m inventory.Machine) (*client.Client, error) {
	endpoint, opts, err := options(m)
	if err != nil {
		return nil, noWay(m, err)
	}
	c, err := client.NewClientWithOpts(append(opts, client.WithAPIVersionNegotiation())...)
	if err != nil {
		return nil, noWay(m, err)
	}
	waiting, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	answer, err := c.Ping(waiting)
	switch {
	case ctx.Err() != nil: // nobody waits for it any more
		return nil, errors.Join(fmt.Errorf("calling the Docker daemon of machine %s: %w", m.Name, ctx.Err()), c.Close())
	case err != nil:
		return nil, errors.Join(diagnose(m, endpoint, err), c.Close())
	}
	c.NegotiateAPIVersionPing(answer)
	return c, nil
}

// options are those of a client, and the endpoint that it calls.
func options(m inventory.Machine) (endpoint string, opts []client.Opt, err error) {
	switch m.Scheme() {
	case inventory.SSH:
		opts, err = overSSH(m.Docker)
	case inventory.Context:
		return ofContext(m.Docker)
	default:
		opts = []client.Opt{client.WithHost(m.Docker)}
	}
	if m.TLS != "" {
		opts = append(opts, withTLS(m.TLS))
	}
	return m.Docker, opts, err
}
