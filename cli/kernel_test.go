//go:build linux

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
	for _, args := range [][]string{{"kernel", "path", "--version", "6.12"}, {"kernel", "test", "--version", "6.12"}, {"run", "smoke", "--kernel", "6.12"}, {"sweep", "smoke", "--runtime", "uml", "--kernel", "6.12", "--plan"}} {
		if _, errs := run(t, exitUsage, args...); !strings.Contains(errs, "aqmlab kernel build --version 6.12 makes") {
			t.Errorf("%v: %s", args, errs)
		}
	}
	if _, errs := run(t, exitUsage, "kernel"); !strings.Contains(errs, "build, ") {
		t.Errorf("without a command: %s", errs)
	}
}

// TestWrongKernel: a version that is not known is answered with those that are. One for
// hosts that are no guests is refused.
func TestWrongKernel(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const known = `unknown guest kernel "6.13": want one of 6.1, 6.12`
	for want, commands := range map[string][][]string{
		known: {
			{"kernel", "build", "--version", "6.13"}, {"kernel", "path", "--version", "6.13"}, {"kernel", "test", "--version", "6.13"},
			{"run", "smoke", "--kernel", "6.13"}, {"reproduce", "tcn", "--runtime", "uml", "--kernel", "6.13"}, {"sweep", "smoke", "--runtime", "uml", "--kernel", "6.13"},
		},
		"are no guests: want --runtime uml": {
			{"run", "smoke", "--kernel", "6.12", "--runtime", "netns"}, {"sweep", "smoke", "--kernel", "6.12"}, {"reproduce", "tcn", "--kernel", "6.12"},
			{"tune", "smoke", "--scheme", "tcn", "--kernel", "6.12"},
		},
	} {
		for _, args := range commands {
			if _, errs := run(t, exitUsage, args...); !strings.Contains(errs, want) {
				t.Errorf("%v: %s, want %s", args, errs, want)
			}
		}
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
	test := guests.KernelTest{Kernel: uml.Kernel{Version: "6.1", Release: "6.1.2"}, Took: 149 * time.Millisecond}
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
