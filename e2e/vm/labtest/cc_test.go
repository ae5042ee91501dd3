package labtest

import (
	"testing"
	"time"

	"aqmlab/e2e/vm/vmtest"
)

// TestDCTCP compares the eBPF DCTCP with the kernel's own, connection by
// connection, on a kernel that keeps it registered without links.
func TestDCTCP(t *testing.T) {
	vmtest.Run(t, vmtest.Spec{
		Package: "aqmlab/orchestrator/host/cc",
		Tests:   "Unlinked|AgreesWithKernel|Probe|TestLoss",
		Modules: []string{"tun", "tcp_dctcp"},
		Limit:   5 * time.Minute,
	})
}
