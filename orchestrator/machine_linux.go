package orchestrator

import (
	"context"
	"os"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/guests"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/orchestrator/rootless"
	"aqmlab/orchestrator/testbed"
)

// What the rows of runtimes with a kernel have on Linux.

func openNamespaces(ctx context.Context, lab *labs.Lab, o backend.Options) (*backend.Backend, error) {
	return testbed.OpenNamespaces(ctx, lab, o)
}

func openContainers(ctx context.Context, lab *labs.Lab, o backend.Options) (*backend.Backend, error) {
	return testbed.OpenContainers(ctx, lab, o)
}

func openGuests(ctx context.Context, lab *labs.Lab, o backend.Options) (*backend.Backend, error) {
	return guests.Open(ctx, lab, o)
}

func findKernel(kernel string) (string, error) { return guests.FindKernel(kernel) }

// thisUser is the one whose process this is.
func thisUser(ctx context.Context) user {
	u := user{root: host.IsRoot(), lacks: lacksTransport}
	if !u.root && os.Geteuid() != 0 { // else he has one already
		u.forbidden = rootless.Check(ctx)
	}
	return u
}

// lacksTransport is nil where the kernel provides all that the lab's hosts speak.
func lacksTransport(lab *labs.Lab) error {
	for _, s := range lab.Speaks() {
		t, err := s.Build()
		if err != nil {
			return err
		}
		if err := cc.Provided(t); err != nil {
			return err
		}
	}
	return nil
}
