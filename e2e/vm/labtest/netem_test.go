package labtest

import (
	"testing"
	"time"

	"aqmlab/e2e/vm/vmtest"
)

// TestNetem runs the tests of hosts' delays and of frames that have a time, which need
// a kernel with netem and fq.
func TestNetem(t *testing.T) {
	vmtest.Run(t, vmtest.Spec{
		Package: "aqmlab/orchestrator/netns",
		Tests:   "^Test(Netem|KeepTimes)",
		Modules: []string{"veth", "macvlan", "sch_tbf", "sch_htb", "sch_netem", "sch_fq", "cls_bpf"},
		Limit:   5 * time.Minute,
	})
}
