//go:build linux

package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"aqmlab/orchestrator/journal"
)

// TestMain makes this test binary the program, which an ordinary user's commands become
// in a user namespace. Labs that a user keeps are none of the tests' business.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-") {
		os.Exit(withOwnState(m.Run))
	}
	os.Exit(App{}.Main(os.Args[1:], Streams{Out: os.Stdout, Err: os.Stderr}))
}

// withOwnState runs tests with a folder of their own for the state of labs.
func withOwnState(tests func() int) int {
	dir, err := os.MkdirTemp("", "aqmlab-cli-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Setenv(journal.RootVar, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return tests()
}
