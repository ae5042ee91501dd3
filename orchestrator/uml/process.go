package uml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
)

// Errors for guests that did not come to their end.
var (
	ErrStuck  = errors.New("the guest made no progress")
	ErrMemory = errors.New("the guest ran out of memory")
)

// runQuietly runs a command to its end and returns what it wrote.
func runQuietly(c *exec.Cmd) ([]byte, error) {
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := runAttached(c, program{})
	return out.Bytes(), err
}

// program is what to do about a command that is started. Either may be nil.
type program struct {
	prepare func() error  // is called on the thread that starts it, right before
	started func(pid int) // is called when it runs
}

// runAttached runs a command to its end, which is that of its process group, too.
// It ends with its context and with this process.
func runAttached(c *exec.Cmd, p program) error {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if c.Cancel != nil {
		c.Cancel = func() error { return host.KillGroup(c.Process.Pid) }
	}
	// The signal comes when the thread ends that started the command, and what
	// prepare changes is the thread's: it stays here, and is given up afterwards.
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		ended <- p.run(c)
	}()
	return <-ended
}

// run starts a command on this thread, and waits for its end.
func (p program) run(c *exec.Cmd) error {
	if p.prepare != nil {
		if err := p.prepare(); err != nil {
			return err
		}
	}
	if err := c.Start(); err != nil {
		return err
	}
	if p.started != nil {
		p.started(c.Process.Pid)
	}
	return waitGroup(c)
}

// waitGroup waits for a command that was started, and kills what is left of its
// group: a guest's kernel that is killed while it makes a process leaves that
// behind.
func waitGroup(c *exec.Cmd) error {
	err := host.AwaitEnd(c.Process.Pid)
	if err == nil {
		err = host.KillGroup(c.Process.Pid)
	}
	return errors.Join(c.Wait(), err)
}

// fixedAddresses makes programs that the calling thread starts have the same
// addresses every time (personality(2)).
func fixedAddresses() error {
	const noRandomize = 0x0040000 // ADDR_NO_RANDOMIZE of linux/personality.h
	if _, _, errno := unix.RawSyscall(unix.SYS_PERSONALITY, noRandomize, 0, 0); errno != 0 {
		return os.NewSyscallError("personality", errno)
	}
	return nil
}

// maxConsole bounds what is read of a console.
const maxConsole = 16 << 20

// tail is how many lines of a program's output an error quotes.
const tail = 15

// lastLines are the last lines of a program's output.
func lastLines(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-tail):], "\n")
}

// consoleTail is the end of a guest's console, for an error. A guest whose disk is full
// may have removed its name.
func consoleTail(file *os.File, memory int) error {
	out, err := io.ReadAll(io.NewSectionReader(file, 0, maxConsole))
	if err != nil {
		return err
	}
	var words []byte
	for line := range bytes.Lines(out) {
		if !ofTrace(bytes.TrimSpace(line)) {
			words = append(words, line...)
		}
	}
	last := lastLines(words)
	switch {
	case last == "":
		return errors.New("the guest wrote nothing on its console")
	case bytes.Contains(out, []byte("Out of memory")):
		return fmt.Errorf("%w, of at most %d MiB; its console ends with:\n%s", ErrMemory, memory, last)
	case bytes.Contains(out, []byte("the host /dev/shm or /tmp mount likely just ran out of space")):
		return fmt.Errorf("/dev/shm, which holds the memory of guests, is full: make room there, or run fewer guests at once (--jobs); the guest's console ends with:\n%s", last)
	}
	return fmt.Errorf("the guest's console ends with:\n%s", last)
}

// ofTrace tells whether a line is of the kernel's stack or call trace: addresses,
// which say nothing to the user.
func ofTrace(line []byte) bool {
	word, _, _ := bytes.Cut(line, []byte(" "))
	_, err := strconv.ParseUint(string(word), 16, 64)
	return bytes.HasPrefix(line, []byte("[<")) || len(word) >= 8 && err == nil ||
		string(line) == "Stack:" || string(line) == "Call Trace:"
}
