package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Address is the only one that is served: runs are nobody else's business, and
// there are no users and passwords. Other machines come by SSH's forwarding.
const Address = "127.0.0.1"

// Timeouts against clients that hang.
const (
	headerTimeout = 10 * time.Second
	leaveTimeout  = 3 * time.Second
)

// Listen serves the folder root at a TCP port until ctx ends, which is no error.
// Port 0 is any that is free. ready is told the URL once requests are answered.
func Listen(ctx context.Context, root string, port uint16, ready func(url string)) error {
	l, err := net.Listen("tcp4", fmt.Sprintf("%s:%d", Address, port))
	if err != nil {
		return fmt.Errorf("serving %s: %w", root, err)
	}
	server := &http.Server{Handler: Handler(root), ReadHeaderTimeout: headerTimeout}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	ready("http://" + l.Addr().String() + "/")
	select {
	case err = <-ended:
		return fmt.Errorf("serving %s: %w", root, err)
	case <-ctx.Done():
	}
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	err = server.Shutdown(leave)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("serving %s: %w", root, err)
	}
	return nil
}
