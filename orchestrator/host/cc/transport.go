package cc

import (
	"fmt"

	"aqmlab/kind"
)

// algorithm is how one transport of a lab maps to the kernel.
type algorithm struct {
	transport string
	doc       string
	kernel    string // name in the kernel
	ecn       bool
	ours      bool // the programs in dctcp.bpf.c can stand in for the kernel's
}

func algorithms() []algorithm {
	return []algorithm{
		{transport: "dctcp", doc: "cut the window by the share of marked packets (RFC 8257)", kernel: "dctcp", ecn: true, ours: true},
		{transport: "ecn-star", doc: "Reno that treats a mark like a loss (RFC 3168)", kernel: "reno", ecn: true},
		{transport: "reno", doc: "Reno without ECN (RFC 5681)", kernel: "reno"},
		{transport: "cubic", doc: "CUBIC without ECN (RFC 9438)", kernel: "cubic"},
	}
}

// Transports is the table of what [Acquire] knows. A row's environment is the
// lab's suffix.
func Transports() kind.Table[string, *Handle] {
	var table kind.Table[string, *Handle]
	for _, a := range algorithms() {
		table = append(table, kind.Row(a.transport, a.doc, struct{}{}, func(_ struct{}, suffix string) (*Handle, error) {
			return a.acquire(suffix)
		}))
	}
	return table
}

// Acquire makes the transport's congestion control available in the kernel. It
// may make the kernel load a module. Suffix tells labs that run at once apart:
// 1 to 9 letters, digits, underscores or dots. Errors wrap [kind.ErrUnknown],
// which comes with the known names, or are an [*UnsupportedError].
func Acquire(transport, suffix string) (*Handle, error) {
	h, err := Transports().New(transport, nil, suffix)
	if err != nil {
		return nil, fmt.Errorf("transport: %w", err)
	}
	return h, nil
}

func (a algorithm) acquire(suffix string) (*Handle, error) {
	name, err := uniqueName(a.kernel, suffix)
	if err != nil {
		return nil, err
	}
	has, err := kernelHasOrLoads(a.kernel)
	switch {
	case err != nil:
		return nil, err
	case has:
		return &Handle{name: a.kernel, provider: Kernel, ecn: a.ecn}, nil
	case !a.ours:
		return nil, a.missingModule()
	}
	r, err := register(name)
	if err != nil {
		return nil, a.explain(err)
	}
	return &Handle{name: name, provider: EBPF, ecn: a.ecn, registration: r}, nil
}
