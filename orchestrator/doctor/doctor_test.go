package doctor

import (
	"os"
	"testing"

	"aqmlab/results"
)

// TestDiagnose: a machine is ready if it has all that a lab needs; what it
// lacks comes with what to do.
func TestDiagnose(t *testing.T) {
	d := Diagnose()
	parts := map[string]Finding{}
	ready := true
	for _, f := range d.Findings {
		parts[f.Part] = f
		ready = ready && (f.OK || !f.Needed)
		if f.Text == "" || f.Needed && !f.OK && f.Remedy == "" {
			t.Errorf("finding %+v says too little", f)
		}
	}
	if d.Ready != ready {
		t.Errorf("ready is %t with %+v", d.Ready, d.Findings)
	}
	for _, part := range []string{"rights", "hosts", "uplinks", "switch", "CPUs", "transport dctcp", "base RTT", "TCP timers"} {
		if _, ok := parts[part]; !ok {
			t.Errorf("nothing is said of %s", part)
		}
	}
	if root := os.Geteuid() == 0; parts["rights"].OK != root || !root && d.Ready {
		t.Errorf("root is %t; findings %+v", root, d.Findings)
	}
	if d.Machine != results.ThisMachine() {
		t.Errorf("machine %+v", d.Machine)
	}
}

// TestNoGuestKernelFound: a missing guest kernel is no obstacle, and comes with how
// to get one.
func TestNoGuestKernelFound(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if f := findGuestKernel(); f.OK || f.Needed || f.Remedy == "" {
		t.Errorf("finding: %+v", f)
	}
}
