//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// die ends this process by a signal.
func die(s syscall.Signal) {
	signal.Reset(s)
	_ = syscall.Kill(os.Getpid(), s)
	time.Sleep(time.Second)
	os.Exit(interrupted{s}.status()) // whoever started it has the signal ignored
}
