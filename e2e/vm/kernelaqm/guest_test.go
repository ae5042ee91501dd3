package kernelaqm_test

import (
	"testing"
	"time"

	"aqmlab/e2e/vm/vmtest"
)

// TestAgreement runs the tests of this package that ask the kernel, in its guest.
func TestAgreement(t *testing.T) {
	vmtest.Run(t, vmtest.Spec{
		Package: "aqmlab/e2e/vm/kernelaqm",
		Tests:   "^TestKernel",
		Modules: []string{"dummy", "sch_tbf", "sch_codel", "sch_fq_codel", "sch_pie", "sch_red"},
		Limit:   5 * time.Minute,
	})
}
