//go:build !linux

package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
)

// ErrNeedsLinux says that the program is one for another system.
var ErrNeedsLinux = errors.New("real hosts and guest kernels need Linux")

// needsLinux is the error with the system that this program is for.
func needsLinux() error {
	return fmt.Errorf("%w, and this is the program for %s: --runtime %s needs no kernel", ErrNeedsLinux, runtime.GOOS, Simulator())
}

func refused(context.Context, *labs.Lab, backend.Options) (*backend.Backend, error) {
	return nil, needsLinux()
}

func openNamespaces(ctx context.Context, lab *labs.Lab, o backend.Options) (*backend.Backend, error) {
	return refused(ctx, lab, o)
}

func openContainers(ctx context.Context, lab *labs.Lab, o backend.Options) (*backend.Backend, error) {
	return refused(ctx, lab, o)
}

func openGuests(ctx context.Context, lab *labs.Lab, o backend.Options) (*backend.Backend, error) {
	return refused(ctx, lab, o)
}

func findKernel(string) (string, error) { return "", ErrNeedsLinux }

// thisUser may have no real hosts.
func thisUser(context.Context) user {
	return user{forbidden: ErrNeedsLinux, lacks: func(*labs.Lab) error { return ErrNeedsLinux }}
}
