package labtest

import (
	"testing"
	"time"

	"aqmlab/e2e/vm/vmtest"
)

// TestVLAN runs the tests of links between machines that are VLANs, which need a kernel
// with 8021q.
func TestVLAN(t *testing.T) { runVLAN(t, "aqmlab/orchestrator/netns") }

// TestVLANCheck runs those of the check of machines whose links are.
func TestVLANCheck(t *testing.T) { runVLAN(t, "aqmlab/orchestrator/machines/check") }

func runVLAN(t *testing.T, tested string) {
	vmtest.Run(t, vmtest.Spec{
		Package: tested,
		Tests:   "VLAN",
		Modules: []string{"veth", "bridge", "8021q", "sch_tbf", "cls_bpf"},
		Limit:   5 * time.Minute,
	})
}
