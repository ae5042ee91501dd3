package cc

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// offered is a name that labs share, which no other test uses.
func offered(t *testing.T, letter string) string {
	t.Helper()
	needsRoot(t)
	needsLinks(t)
	acquire(t, letter) // skips where nothing of ours is registered
	return "dctcp" + suffix(letter)
}

// share offers a DCTCP under a name.
func share(t *testing.T, name string, v variant) hold {
	t.Helper()
	h, err := offer(name, v)
	must(t, err)
	return h
}

// TestOffer: the first lab registers the name, others of the same DCTCP hold it as well,
// and it is gone with the last of them. A lab of another DCTCP does not get it.
func TestOffer(t *testing.T) {
	name := offered(t, "1")
	v, other := variant{linked: true}, variant{linked: true, lossByAlpha: true}
	first, second := share(t, name, v), share(t, name, v)
	if first == nil || second == nil {
		t.Fatalf("offered to %v and %v", first, second)
	}
	if third := share(t, name, other); third != nil {
		t.Error("a lab of another DCTCP got the name")
	}
	must(t, first.leave())
	wantRegistered(t, name, true)
	n := newNetwork(t)
	client, _ := n.connect(t, name, name)
	transfer(t, client, times(20))
	must(t, second.leave())
	wantRegistered(t, name, false)
	third := share(t, name, other)
	if third == nil {
		t.Error("a name that is free was not given")
	}
	wantRegistered(t, name, true)
	must(t, third.leave())
	wantRegistered(t, name, false)
}

// TestOfferOutlivesKilled: a lab that was killed takes the name away from nobody, and
// leaves nothing behind.
func TestOfferOutlivesKilled(t *testing.T) {
	name := offered(t, "2")
	killed := start(t, "offer "+name)
	if killed.said != name {
		t.Fatalf("it said %q", killed.said)
	}
	mine := share(t, name, variant{linked: true})
	file, err := mine.file(name)
	must(t, err)
	killed.kill(t)
	wantRegistered(t, name, true)
	must(t, mine.leave())
	wantRegistered(t, name, true) // by the descriptor, which a switch may have
	must(t, file.Close())
	wantRegistered(t, name, false)
}

// TestOfferOfStrangers: a name that something else has stays with it.
func TestOfferOfStrangers(t *testing.T) {
	name := offered(t, "3")
	r, err := register(name, variant{linked: true})
	must(t, err)
	if h := share(t, name, variant{linked: true}); h != nil {
		t.Error("a stranger's name was given away")
	}
	if bpf, err := isBPF(name); err != nil || !bpf {
		t.Errorf("ours is taken for the kernel's: %v, %v", bpf, err)
	}
	must(t, r.close())
	if h := share(t, "reno", variant{linked: true}); h != nil {
		t.Error("the kernel's name was given away")
	}
}

// TestAcquireBesideOffer: a lab that comes up while another one offers its DCTCP as dctcp
// has its own all the same: that name is not the kernel's, and goes with the other lab.
func TestAcquireBesideOffer(t *testing.T) {
	h := acquire(t, "4")
	must(t, h.Offer())
	if h.Common() == "" {
		t.Fatal("another lab has the name dctcp, for another DCTCP")
	}
	wantRegistered(t, CommonName, true)
	files, err := h.LinkFiles()
	must(t, err)
	for _, f := range files {
		must(t, f.Close())
	}
	if len(files) != 2 {
		t.Errorf("%d link files", len(files))
	}
	beside := acquire(t, "5")
	if beside.Provider() != EBPF || beside.Name() == CommonName {
		t.Errorf("%s by %s", beside.Name(), beside.Provider())
	}
	if err := Provided(named("dctcp")); !errors.Is(err, unix.EPERM) {
		t.Errorf("an ordinary user is told %v, want that the kernel has none", err)
	}
	all, err := Probe()
	must(t, err)
	for _, s := range all {
		if s.Transport == "dctcp" && s.Provider != EBPF {
			t.Errorf("probe says %+v", s)
		}
	}
}
