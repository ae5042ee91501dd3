//go:build unix

package slurm

import (
	"os/exec"
	"syscall"
)

// inOwnGroup has a command run in a process group of its own.
func inOwnGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
