package labtest

import (
	"testing"
	"time"

	"aqmlab/vm/vmtest"
)

// TestNetem runs the tests of hosts' delays, which need a kernel with netem.
func TestNetem(t *testing.T) {
	vmtest.Run(t, vmtest.Spec{
		Package: "aqmlab/orchestrator/netns",
		Tests:   "^TestNetem",
		Modules: []string{"veth", "macvlan", "sch_tbf", "sch_htb", "sch_netem", "cls_bpf"},
		Limit:   5 * time.Minute,
	})
}
