package doctor

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"aqmlab/orchestrator/rootless"
	"aqmlab/results"
)

// TestMain makes this test binary what looks from inside a user namespace.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != "agent" {
		os.Exit(m.Run())
	}
	var err error
	if os.Args[2] == rootless.Role {
		err = rootless.Begin(os.Args[3:])
	} else {
		err = json.NewEncoder(os.Stdout).Encode(HostParts())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

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
	// An ordinary user who may have user namespaces has in one what root has.
	root, allowed := os.Geteuid() == 0, rootless.Check(t.Context()) == nil
	if parts["rights"].OK != (root || allowed) || d.Rootless != (!root && allowed) || !root && !allowed && d.Ready {
		t.Errorf("root is %t, namespaces are allowed %t; rootless %t, findings %+v", root, allowed, d.Rootless, d.Findings)
	}
	if d.Rootless && (!parts["hosts"].OK || !parts["uplinks"].OK || !parts["switch"].OK) {
		t.Errorf("findings in a user namespace: %+v", d.Findings)
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
