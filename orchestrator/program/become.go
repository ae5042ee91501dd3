package program

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
)

// Role is what this program is before it becomes one of a lab: "agent" and this are its
// arguments.
const Role = "program"

// Descriptors of the process that becomes a program. The program itself has the three
// standard ones and, if it writes figures, number 3.
const (
	orderFD  = 4 // what to become; then when
	statusFD = 5 // why it failed; it ends without a word when the program begins
)

// order is what to become.
type order struct {
	Place
	Run []string
	Env []string
	Dir string // within the root
}

// Become waits for its time and replaces this process by a program. It returns only when
// it fails, after its owner was told why.
func Become() error {
	unix.CloseOnExec(orderFD)
	unix.CloseOnExec(statusFD)
	status := os.NewFile(statusFD, "status")
	err := become(os.NewFile(orderFD, "order"))
	if _, terr := fmt.Fprint(status, err); terr != nil {
		return errors.Join(err, terr)
	}
	return nil // it is told
}

func become(orders io.Reader) error {
	in := bufio.NewReader(orders)
	var o order
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	if err != nil {
		return fmt.Errorf("reading what to run: %w", err)
	}
	// Never unlocked: the thread becomes the program, or ends with the process.
	runtime.LockOSThread()
	path, err := o.enter()
	if err != nil {
		return err
	}
	if err := waitFor(in); err != nil {
		return err
	}
	return os.NewSyscallError("exec "+path, unix.Exec(path, o.Run, o.Env))
}

// enter goes to the place, and finds the program there.
func (o order) enter() (path string, err error) {
	if err := netns.Enter(o.Namespace); err != nil {
		return "", err
	}
	if o.Root != "" {
		if err := unix.Chroot(o.Root); err != nil {
			return "", os.NewSyscallError("chroot "+o.Root, err)
		}
	}
	if o.Namespace != "" {
		if err := netns.PrivateMounts(o.Hosts); err != nil {
			return "", err
		}
	}
	if err := os.Chdir(cmp.Or(o.Dir, "/")); err != nil {
		return "", err
	}
	if err := os.Setenv("PATH", pathOf(o.Env)); err != nil {
		return "", err
	}
	return exec.LookPath(o.Run[0])
}

// waitFor waits until the time that the owner sends, on CLOCK_MONOTONIC.
func waitFor(orders *bufio.Reader) error {
	var at int64
	line, err := orders.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		return fmt.Errorf("waiting for the time to begin: %w", err)
	}
	now, err := host.Monotonic()
	if err != nil {
		return err
	}
	time.Sleep(time.Duration(at - now))
	return nil
}
