package vm

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// kernelParameters: what goes wrong stands on the console and ends the machine;
// addresses are not shuffled, so that runs repeat.
const kernelParameters = "console=ttyS0 quiet panic=-1 nokaslr"

// boot runs the machine until it powers off, and returns what the program wrote.
// The serial ports are the kernel's console, the program's output and the init's
// report, in this order ([guest.Main]).
func (m Machine) boot(ctx context.Context, f files, g Guest) ([]byte, error) {
	memory := g.Memory
	if memory == 0 {
		memory = defaultMemory
	}
	args := []string{
		"-accel", "tcg", "-m", strconv.Itoa(memory),
		"-cpu", "qemu64,+rdrand", // a source of randomness that programs need not wait for
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-kernel", m.Kernel.Image, "-initrd", f.initramfs, "-append", kernelParameters,
		"-serial", "file:" + f.console,
		"-chardev", "stdio,id=output,signal=off", "-serial", "chardev:output",
		"-serial", "file:" + f.report,
	}
	if g.VirtualTime {
		args = append(args, virtualTime()...)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, m.QEMU, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// The machine must not outlive this process. The signal comes when the
	// thread ends that started it, so that thread stays here.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("%s: %w%s%s", qemu, err, prefixed("\n", stderr.Bytes()), prefixed("\nthe program wrote:\n", stdout.Bytes()))
	}
	return stdout.Bytes(), nil
}

// virtualTime makes instructions the only clock (2^0 ns each), lets the
// calendar begin at a fixed date, and fixes what the machine offers as
// randomness.
func virtualTime() []string {
	return []string{"-icount", "shift=0,sleep=off", "-rtc", "base=2026-01-01,clock=vm", "-seed", "1"}
}

// prefixed is text below a heading, or nothing.
func prefixed(heading string, text []byte) string {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return ""
	}
	return heading + string(text)
}
