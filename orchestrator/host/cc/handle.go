// Package cc gives a lab's hosts their congestion control. What the running
// kernel has is used as it is; DCTCP, which many kernels are built without, is
// loaded as BPF struct_ops under a name of the lab's own and vanishes with the
// last descriptor of its link, also when the process that loaded it is killed.
// Before Linux 6.4 there are no such links, and it stays until it is unregistered.
//
// Names are the kernel's, for TCP_CONGESTION, for net.ipv4.tcp_congestion_control
// and for the congctl attribute of a route. Congestion controls are global to
// the kernel: all network namespaces see them.
package cc

import (
	"errors"
	"os"
)

// Provider says whose implementation of a congestion control is in use.
type Provider string

const (
	// Kernel is the running kernel itself, or a module of it. From Linux 6.7 on,
	// its own DCTCP echoes every mark only while the receiver's namespace has
	// net.ipv4.tcp_backlog_ack_defer = 0; ours does not depend on it.
	Kernel Provider = "kernel"
	// EBPF is this package's own implementation, loaded as BPF struct_ops.
	EBPF Provider = "ebpf"
)

// ErrStays is returned for the files of a congestion control that stays without
// being held: the kernel provides it, or is one (before Linux 6.4) that keeps
// eBPF ones until they are unregistered.
var ErrStays = errors.New("it stays, there is nothing to hold")

// Handle holds a congestion control for a lab. An eBPF one stays registered
// until the handle and every copy of its link file are closed; connections that
// use it keep it to their end. Before Linux 6.4 it also stays behind when its
// process is killed, until [Unregister].
type Handle struct {
	name         string
	provider     Provider
	ecn          bool
	registration *registration // nil if the kernel provides it
	variant      variant       // of it
	common       hold          // of the name that labs share; nil without
}

// Name is the kernel's name of the congestion control, at most 15 bytes.
func (h *Handle) Name() string { return h.name }

// Provider says whose implementation it is.
func (h *Handle) Provider() Provider { return h.provider }

// ECN reports whether connections must negotiate ECN. DCTCP negotiates it by
// itself; for ecn-star the host has to be told (tcp_ecn, or a route's feature).
func (h *Handle) ECN() bool { return h.ecn }

// LinkFiles returns descriptors that keep the congestion control registered while they
// are open, for a process that outlives this one. The caller closes them. There are none
// if that takes no descriptor.
func (h *Handle) LinkFiles() (files []*os.File, err error) {
	var holds []hold
	if h.registration != nil {
		holds = append(holds, h.registration.hold)
	}
	if h.common != nil {
		holds = append(holds, h.common)
	}
	for _, held := range holds {
		switch f, err := held.file(h.name); {
		case err == nil:
			files = append(files, f)
		case !errors.Is(err, ErrStays):
			for _, f := range files {
				f.Close()
			}
			return nil, err
		}
	}
	return files, nil
}

// StateFile returns a descriptor of the map of per-connection state, for
// [OpenReader] in another process. The caller closes it. The error is
// [ErrStays] if the kernel provides the congestion control.
func (h *Handle) StateFile() (*os.File, error) {
	if h.registration == nil {
		return nil, ErrStays
	}
	return duplicateFile(h.registration.states.FD(), h.name+" states")
}

// Close lets go of the congestion control. The handle is of no use afterwards;
// closing it twice is no error.
func (h *Handle) Close() error { return h.release((*registration).close) }

// Leave gives the handle up for a lab that stays. The congestion control does as
// well, as long as its link file is open somewhere or, before Linux 6.4, until
// [Unregister].
func (h *Handle) Leave() error { return h.release((*registration).leave) }

func (h *Handle) release(how func(*registration) error) error {
	r, common := h.registration, h.common
	if r == nil {
		return nil
	}
	h.registration, h.common = nil, nil
	if common == nil {
		return how(r)
	}
	return errors.Join(how(r), common.leave())
}
