package labs_test

import (
	"strings"
	"testing"

	"aqmlab/labs"
)

// TestKernelOfGuests: a lab names the kernel of its guests, in quotes: 6.10 without them
// would be 6.1. The default is not written, so that a lab that names it is the same lab.
func TestKernelOfGuests(t *testing.T) {
	for yaml, want := range map[string]struct {
		kernel, writes, err string
	}{
		"":                           {kernel: "6.1"},
		"host: {kernel: \"6.1\"}\n":  {kernel: "6.1"},
		"host: {kernel: \"6.12\"}\n": {kernel: "6.12", writes: `kernel: "6.12"`},
		"host: {kernel: 6.12}\n":     {err: `host.kernel: 6.12 is a number: want it in quotes, "6.12"`},
		"host: {kernel: \"6.13\"}\n": {err: `host.kernel: unknown guest kernel "6.13": want one of 6.1, 6.12`},
	} {
		l, err := labs.Parse("x.yaml", []byte(base+yaml))
		if want.err != "" {
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: %v, want %s", yaml, err, want.err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := l.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if l.Host.Kernel != want.kernel || l.NamesKernel() != (want.writes != "") || strings.Contains(string(text), "kernel:") != (want.writes != "") || !strings.Contains(string(text), want.writes) {
			t.Errorf("%s: kernel %s, written as\n%s", yaml, l.Host.Kernel, text)
		}
		warned := strings.Join(l.Unsupported(labs.Hosts{}), "\n")
		if strings.Contains(warned, "host.kernel: only hosts that are guests follow it") != (want.writes != "") {
			t.Errorf("%s: on other real hosts: %s", yaml, warned)
		}
		for _, hosts := range []labs.Hosts{{Guests: true}, {Modelled: true}} {
			if warned := l.Unsupported(hosts); len(warned) > 0 {
				t.Errorf("%s: %+v: %v", yaml, hosts, warned)
			}
		}
	}
}
