package guests

import (
	"context"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/uml"
	"aqmlab/results"
	"aqmlab/switch/port"
	"aqmlab/units"
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
	var l lookSchedule
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

// TestServeGuestElsewhere: outside of a guest nothing is done.
func TestServeGuestElsewhere(t *testing.T) {
	if err := Serve(context.Background(), port.Kinds{}); err == nil || !strings.Contains(err.Error(), "process 1") {
		t.Errorf("got %v", err)
	}
}

// TestSteps: what a guest sees reaches the host by its steps.
func TestSteps(t *testing.T) {
	if seen, err := (step{}).look(); err != nil || seen.FCT != nil {
		t.Errorf("at first %+v, %v", seen, err)
	}
	s := step{Seen: []byte(`{"fct_us": {"small": {"count": 2, "mean": 3}}}`)}
	if seen, err := s.look(); err != nil || seen.FCT[results.Small].Count != 2 {
		t.Errorf("then %+v, %v", seen, err)
	}
	if _, err := (step{Seen: []byte("{")}).look(); err == nil {
		t.Error("half a step was read")
	}
}

// TestCaptureMemory: a capture takes memory only where it is asked for.
func TestCaptureMemory(t *testing.T) {
	lab := &labs.Lab{}
	if n := captureMemory(lab); n != 0 {
		t.Errorf("a guest gets %d MiB for no capture", n)
	}
	lab.Capture.Format, lab.Capture.Size = "pcapng", 64*units.MB
	if n := captureMemory(lab); n != 4*64 {
		t.Errorf("a guest gets %d MiB for a capture of 64 MB, want room for four of it", n)
	}
}

// TestKernelsOfLabs: labs may name the kernels that can be built, and have the same default.
func TestKernelsOfLabs(t *testing.T) {
	for i, version := range uml.Versions() {
		lab, err := labs.Load("smoke", labs.Options{Set: []string{"host.kernel=" + version}})
		if err != nil || lab.Host.Kernel != version || lab.NamesKernel() != (i > 0) {
			t.Errorf("kernel %s: %v", version, err)
		}
	}
	_, err := labs.Load("smoke", labs.Options{Set: []string{"host.kernel=0"}})
	if want := "want one of " + strings.Join(uml.Versions(), ", "); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v: %s", err, want)
	}
	if lab, err := labs.Load("smoke", labs.Options{}); err != nil || lab.Host.Kernel != labs.DefaultKernel || labs.DefaultKernel != uml.Versions()[0] {
		t.Errorf("by default %v, %v", lab, err)
	}
}
