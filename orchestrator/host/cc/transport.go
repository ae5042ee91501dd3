package cc

import (
	"fmt"

	"aqmlab/transport"
)

// algorithm is how the kernel knows a transport.
type algorithm struct {
	transport.Transport
	kernel string // name in the kernel
	ours   bool   // the programs in dctcp.bpf.c can stand in for the kernel's
}

func algorithmOf(t transport.Transport) algorithm {
	switch t.Name {
	case "dctcp":
		return algorithm{Transport: t, kernel: "dctcp", ours: true}
	case "ecn-star":
		return algorithm{Transport: t, kernel: "reno"}
	default:
		return algorithm{Transport: t, kernel: t.Name}
	}
}

// find looks a name up in the table of all transports.
func find(name string) (algorithm, error) {
	t, err := transport.Table().New(name, nil, struct{}{})
	if err != nil {
		return algorithm{}, fmt.Errorf("transport: %w", err)
	}
	return algorithmOf(t), nil
}

// Acquire makes the transport's congestion control available in the kernel. It
// may make the kernel load a module. Suffix tells labs that run at once apart:
// 1 to 9 letters, digits, underscores or dots. The error for a name that is not
// in [transport.Table] lists those that are; others wrap an [*UnsupportedError],
// as for a transport that only modelled hosts speak, or [unix.EEXIST] if a running lab has the same suffix.
func Acquire(name, suffix string) (*Handle, error) {
	a, err := find(name)
	if err != nil {
		return nil, err
	}
	h, err := a.acquire(suffix)
	if err != nil {
		return nil, fmt.Errorf("acquire transport %s: %w", name, err)
	}
	return h, nil
}

func (a algorithm) acquire(suffix string) (*Handle, error) {
	name, err := uniqueName(suffix)
	if err != nil {
		return nil, err
	}
	if a.Modelled {
		return nil, a.onlyModelled()
	}
	has, err := kernelHasOrLoads(a.kernel)
	switch {
	case err != nil:
		return nil, err
	case has:
		return &Handle{name: a.kernel, provider: Kernel, ecn: a.ECN}, nil
	case !a.ours:
		return nil, a.missingModule()
	}
	m := thisMachine()
	r, err := register(name, m.links())
	if err != nil {
		return nil, a.explain(err, m)
	}
	return &Handle{name: name, provider: EBPF, ecn: a.ECN, registration: r}, nil
}
