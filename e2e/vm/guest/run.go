package guest

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// signalStatus is added to the number of the signal that killed a program, as
// shells do.
const signalStatus = 128

// run starts the program and waits for it. As init it also inherits, and must
// wait for, what the program leaves behind.
func run(o Orders) (status int, err error) {
	output, err := openSerial(outputPort)
	if err != nil {
		return 0, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", o.Command[0], err)
	}
	env := []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp", Variable + "=1"}
	child, err := os.StartProcess(o.Command[0], o.Command, &os.ProcAttr{
		Dir:   "/",
		Env:   append(env, o.Env...),
		Files: []*os.File{null, output, output},
	})
	if err != nil {
		return 0, fmt.Errorf("start the program: %w", err)
	}
	if status, err = wait(child.Pid); err != nil {
		return 0, err
	}
	return status, drain(output)
}

// wait takes the ends of all children until that of pid comes.
func wait(pid int) (status int, err error) {
	for {
		var ws unix.WaitStatus
		ended, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for the program: %w", err)
		case ended == pid && ws.Signaled():
			return signalStatus + int(ws.Signal()), nil
		case ended == pid:
			return ws.ExitStatus(), nil
		}
	}
}

// openSerial opens a serial port that passes bytes on as they are.
func openSerial(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("open the serial port: %w", err)
	}
	if _, err := term.MakeRaw(int(f.Fd())); err != nil {
		return nil, fmt.Errorf("set up serial port %s: %w", path, err)
	}
	return f, nil
}

// drain waits until a serial port has sent all that was written to it.
func drain(port *os.File) error {
	const wait = 1 // rather than send a break (tcdrain)
	if err := unix.IoctlSetInt(int(port.Fd()), unix.TCSBRK, wait); err != nil {
		return fmt.Errorf("send on serial port %s: %w", port.Name(), err)
	}
	return nil
}
