package cli

import (
	"os"
	"syscall"
)

// die ends this process as if by a signal.
func die(s syscall.Signal) { os.Exit(interrupted{s}.status()) }
