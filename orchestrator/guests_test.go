package orchestrator

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"aqmlab/orchestrator/uml"
	"aqmlab/results"
	"aqmlab/switch/port"
)

// TestExact: in virtual time nothing is late, but a lost frame is lost.
func TestExact(t *testing.T) {
	for label, want := range map[string]string{results.FidelityOK: results.FidelityExact, results.FidelityLow: results.FidelityLow} {
		if got := exact(results.Fidelity{Label: label, CPUHeadroom: 0.1}); got.Label != want || got.CPUHeadroom != 1 {
			t.Errorf("%s became %+v, want %s", label, got, want)
		}
	}
}

// TestLooks: what is seen of a point is never older than a tenth of its time, and
// ten seconds of it cost at most a hundred looks, whatever its trace.
func TestLooks(t *testing.T) {
	var l looks
	var seen time.Duration
	count := 0
	for now := time.Millisecond; now < 10*time.Second; now += time.Millisecond {
		if l.due(now) {
			seen = now
			count++
		}
		if now-seen > seen/10+time.Millisecond {
			t.Fatalf("at %v the last look was at %v", now, seen)
		}
	}
	if count > 100 {
		t.Errorf("%d looks", count)
	}
}

// TestGuestMemory: nine hosts need at most 512 MiB, and more hosts more.
func TestGuestMemory(t *testing.T) {
	if nine, ten := guestMemory(9), guestMemory(10); nine > 512 || ten <= nine {
		t.Errorf("%d MiB for 9 hosts, %d MiB for 10", nine, ten)
	}
}

// TestNoGuestKernel: what needs one says how to get it, and makes nothing.
func TestNoGuestKernel(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	out := t.TempDir()
	_, err := Run(t.Context(), parse(t, small), RunOptions{Runtime: UML, Out: out, Watcher: &diary{}})
	if !errors.Is(err, uml.ErrUnavailable) || !strings.Contains(err.Error(), "aqmlab kernel build") {
		t.Errorf("run: %v", err)
	}
	if made, err := os.ReadDir(out); err != nil || len(made) > 0 {
		t.Errorf("made %v, %v", made, err)
	}
	if f := findGuestKernel(); f.OK || f.Needed || f.Remedy == "" {
		t.Errorf("finding: %+v", f)
	}
}

// TestServeGuestElsewhere: outside of a guest nothing is done.
func TestServeGuestElsewhere(t *testing.T) {
	if err := ServeGuest(context.Background(), port.Kinds{}); err == nil || !strings.Contains(err.Error(), "process 1") {
		t.Errorf("got %v", err)
	}
}
