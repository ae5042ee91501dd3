package cli

import (
	"os"
	"strings"
	"testing"
)

// TestMain makes this test binary the program, which an ordinary user's commands become
// in a user namespace.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-") {
		os.Exit(m.Run())
	}
	os.Exit(App{}.Main(os.Args[1:], Streams{Out: os.Stdout, Err: os.Stderr}))
}
