package cc

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"aqmlab/trafficgen/transport"
)

// suffix is unlike that of any test that runs at the same time elsewhere.
func suffix(letter string) string {
	return strconv.FormatInt(int64(os.Getpid()), 36) + letter
}

// acquire gets our own DCTCP. Where the kernel has one, there is nothing of
// ours to test.
func acquire(t *testing.T, letter string) *Handle {
	t.Helper()
	return acquireAs(t, letter, named("dctcp"))
}

func acquireAs(t *testing.T, letter string, as transport.Transport) *Handle {
	t.Helper()
	needsRoot(t)
	h, err := Acquire(as, suffix(letter))
	must(t, err)
	t.Cleanup(func() { must(t, h.Close()) })
	if h.Provider() != EBPF {
		t.Skip("the kernel has a DCTCP of its own")
	}
	return h
}

func wantRegistered(t *testing.T, name string, want bool) {
	t.Helper()
	has, err := kernelHas(name)
	must(t, err)
	if has != want {
		t.Errorf("congestion control %s registered: %v, want %v", name, has, want)
	}
}

func TestRegisteredUntilClosed(t *testing.T) {
	needsRoot(t)
	h, err := Acquire(named("dctcp"), suffix("r"))
	must(t, err)
	if h.Provider() != EBPF {
		t.Skip("the kernel has a DCTCP of its own")
	}
	if want := "dctcp_" + suffix("r"); h.Name() != want {
		t.Errorf("name %q, want %q", h.Name(), want)
	}
	if !h.ECN() {
		t.Error("DCTCP does not ask for ECN")
	}
	wantRegistered(t, h.Name(), true)
	must(t, h.Close())
	wantRegistered(t, h.Name(), false)
}

// needsLinks skips a test on a kernel in which registrations outlive their
// process.
func needsLinks(t *testing.T) {
	t.Helper()
	if !thisMachine().links() {
		t.Skip("the kernel has no struct_ops links")
	}
}

func TestGoneWithKilledProcess(t *testing.T) {
	needsLinks(t)
	acquire(t, "k") // skips where nothing of ours is registered
	holder := start(t, "acquire "+suffix("h"))
	name := "dctcp_" + suffix("h")
	if holder.said != name {
		t.Fatalf("holder said %q, want %q", holder.said, name)
	}
	wantRegistered(t, name, true)
	holder.kill(t)
	wantRegistered(t, name, false)
}

func TestLinkFilesKeepRegistration(t *testing.T) {
	needsLinks(t)
	h := acquire(t, "l")
	links, err := h.LinkFiles()
	must(t, err)
	if len(links) != 1 {
		t.Fatalf("%d links", len(links))
	}
	heir := start(t, "inherit", links...)
	must(t, links[0].Close())
	must(t, h.Close())
	wantRegistered(t, h.Name(), true)
	heir.kill(t)
	wantRegistered(t, h.Name(), false)
}

func TestTwoLabs(t *testing.T) {
	a, b := acquire(t, "a"), acquire(t, "b")
	wantRegistered(t, a.Name(), true)
	wantRegistered(t, b.Name(), true)
	n := newNetwork(t)
	ofA, _ := n.connect(t, a.Name(), a.Name())
	ofB, _ := n.connect(t, b.Name(), b.Name())
	if s := state(t, a, ofA); s.Algorithm != a.Name() || s.DCTCP == nil {
		t.Errorf("connection of lab a: %+v", s)
	}
	if s := state(t, a, ofB); s.Algorithm != b.Name() || s.DCTCP != nil {
		t.Errorf("lab a sees connection of lab b as %+v", s)
	}
	if _, err := Acquire(named("dctcp"), suffix("a")); !errors.Is(err, unix.EEXIST) {
		t.Errorf("same suffix twice: error %v, want EEXIST", err)
	}
	wantRegistered(t, a.Name(), true)
}

// TestConnectionOutlivesRegistration closes the handle under a connection.
func TestConnectionOutlivesRegistration(t *testing.T) {
	h, n := acquire(t, "o"), newNetwork(t)
	client, _ := n.connect(t, h.Name(), h.Name())
	must(t, h.Close())
	transfer(t, client, times(100))
	if s := state(t, &Handle{}, client); s.Algorithm != h.Name() {
		t.Errorf("connection went over to %s", s.Algorithm)
	}
}

func TestUnprivileged(t *testing.T) {
	acquire(t, "p") // skips where no privilege would be needed
	p := start(t, "unprivileged "+suffix("u"))
	if p.said != string(NeedPrivilege) {
		t.Errorf("without capabilities: missing %q, want %q", p.said, NeedPrivilege)
	}
	wantRegistered(t, "dctcp_"+suffix("u"), false)
}

func TestProbeAgreesWithAcquire(t *testing.T) {
	needsRoot(t)
	before, err := os.ReadFile(availablePath)
	must(t, err)
	probed, err := Probe()
	must(t, err)
	after, err := os.ReadFile(availablePath)
	must(t, err)
	if string(after) != string(before) {
		t.Errorf("probe changed the kernel's list from %q to %q", before, after)
	}
	var names []string
	for _, s := range probed {
		names = append(names, s.Transport)
		h, err := Acquire(named(s.Transport), suffix("s"))
		if (err == nil) != (s.Missing == nil) {
			t.Errorf("%s: acquire: %v, probe: %v", s.Transport, err, s.Missing)
		}
		if err != nil {
			continue
		}
		if h.Provider() != s.Provider {
			t.Errorf("%s: provided by %q, probe said %q", s.Transport, h.Provider(), s.Provider)
		}
		must(t, h.Close())
	}
	want := slices.DeleteFunc(transport.Table().Names(), func(name string) bool { return named(name).Modelled })
	if !slices.Equal(names, want) {
		t.Errorf("probed %v, want %v", names, want)
	}
}
