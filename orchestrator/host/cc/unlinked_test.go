package cc

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// unlinked registers our DCTCP as kernels before Linux 6.4 have it, which later
// ones still do.
func unlinked(t *testing.T, letter string) *Handle {
	t.Helper()
	needsRoot(t)
	r, err := register(Name(suffix(letter)), variant{})
	must(t, err)
	return &Handle{name: Name(suffix(letter)), provider: EBPF, ecn: true, registration: r}
}

// TestUnlinked: it is registered until the handle is closed, needs no descriptor
// to be, and works as any other does.
func TestUnlinked(t *testing.T) {
	h := unlinked(t, "x")
	wantRegistered(t, h.Name(), true)
	if files, err := h.LinkFiles(); err != nil || len(files) > 0 {
		t.Errorf("%d link files, %v, want none", len(files), err)
	}
	if _, err := register(h.Name(), variant{}); !errors.Is(err, unix.EEXIST) {
		t.Errorf("same name twice: error %v, want EEXIST", err)
	}
	n := newNetwork(t)
	n.wire.set(plan{mark: 0.25})
	client, _ := n.connect(t, h.Name(), h.Name())
	transfer(t, client, times(50))
	s := dctcp(t, h, client)
	if s.DCTCP.Windows == 0 || s.DCTCP.Reductions == 0 {
		t.Errorf("with every fourth packet marked: %+v", *s.DCTCP)
	}
	wantExactEcho(t, n, s)
	must(t, h.Close())
	wantRegistered(t, h.Name(), false)
}

// TestUnlinkedStays: it outlives its process, and a handle that is left, until it
// is unregistered. That leaves others alone.
func TestUnlinkedStays(t *testing.T) {
	left, other := unlinked(t, "y"), unlinked(t, "z")
	must(t, left.Leave())
	wantRegistered(t, left.Name(), true)
	killed := Name(suffix("w"))
	holder := start(t, "unlinked "+killed)
	if holder.said != killed {
		t.Fatalf("holder said %q, want %q", holder.said, killed)
	}
	holder.kill(t)
	wantRegistered(t, killed, true)
	for _, name := range []string{left.Name(), killed} {
		for range 2 { // what is gone already is no error
			must(t, Unregister(name))
			wantRegistered(t, name, false)
		}
	}
	wantRegistered(t, other.Name(), true)
	must(t, Unregister(other.Name()))
	must(t, other.Close()) // neither is this
}

// TestUnregisterLeavesLinks: what a living process holds stays.
func TestUnregisterLeavesLinks(t *testing.T) {
	needsLinks(t)
	h := acquire(t, "v")
	must(t, Unregister(h.Name()))
	wantRegistered(t, h.Name(), true)
}
