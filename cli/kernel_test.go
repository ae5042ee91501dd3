package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"aqmlab/orchestrator/doctor"
	"aqmlab/orchestrator/guests"
	"aqmlab/orchestrator/uml"
)

// TestNoKernel: without a guest kernel every command that needs one says, as a
// usage error, how to make it.
func TestNoKernel(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, args := range [][]string{{"kernel", "show"}, {"kernel", "path"}, {"kernel", "test"}, {"run", "smoke", "--runtime", "uml"}} {
		if _, errs := run(t, exitUsage, args...); !strings.Contains(errs, "aqmlab kernel build") {
			t.Errorf("%v: %s", args, errs)
		}
	}
	if _, errs := run(t, exitUsage, "kernel"); !strings.Contains(errs, "build, ") {
		t.Errorf("without a command: %s", errs)
	}
}

// TestBuildNothing: a source that is none is an error before anything is built.
func TestBuildNothing(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var o, e bytes.Buffer
	code := App{}.Main([]string{"kernel", "build", "--source", "/no/such/kernel"}, Streams{Out: &o, Err: &e})
	if tools := code == exitUsage && strings.Contains(e.String(), "apt-get install"); !tools && (code != exitFailed || !strings.Contains(e.String(), "/no/such/kernel")) {
		t.Errorf("code %d\n%s", code, &e)
	}
}

func TestPrintKernelTest(t *testing.T) {
	test := guests.KernelTest{Kernel: uml.Kernel{Release: "6.1.2"}, Took: 149 * time.Millisecond}
	test.Diagnosis.Findings = []doctor.Finding{{Part: "hosts", OK: true}, {Part: "CPUs", Text: "a single one"}}
	test.Diagnosis.Ready = true
	var b bytes.Buffer
	printKernelTest(&b, test)
	for _, want := range []string{"Linux 6.1.2", "150ms", "has      hosts\n", "without  CPUs (a single one)", "--runtime uml"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q lacks %q", b.String(), want)
		}
	}
}
