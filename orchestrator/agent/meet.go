package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Meeting is where a process that somebody else starts for us, such as the
// first one of a container, comes for its descriptors: a Unix socket, at which
// it calls Join.
type Meeting struct{ listener *net.UnixListener }

// Meet makes the socket, which must not exist. It is gone after Close.
func Meet(socket string) (*Meeting, error) {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("meet an agent: %w", err)
	}
	return &Meeting{listener}, nil
}

// Close ends the meeting, whether or not anybody came. Closing twice is no
// error.
func (m *Meeting) Close() error {
	if err := m.listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// maxHanded is how many descriptors a process may be handed.
const maxHanded = 16

// Hand waits for the process, or the end of ctx, hands it a command's
// descriptors, and returns its process id, as this process sees it.
func (m *Meeting) Hand(ctx context.Context, c Command) (pid int, err error) {
	defer context.AfterFunc(ctx, func() { m.Close() })()
	conn, err := m.listener.AcceptUnix()
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return 0, fmt.Errorf("wait for the agent: %w", err)
	}
	defer conn.Close()
	if pid, err = peer(conn); err != nil {
		return 0, fmt.Errorf("meet an agent: %w", err)
	}
	handed := append([]*os.File{c.Stderr}, c.Files...)
	if len(handed) > maxHanded {
		return 0, fmt.Errorf("hand descriptors to the agent: %d are more than %d", len(handed), maxHanded)
	}
	fds := make([]int, len(handed))
	for i, f := range handed {
		fds[i] = int(f.Fd())
	}
	// A message must hold a byte for its descriptors to arrive.
	if _, _, err := conn.WriteMsgUnix([]byte{0}, unix.UnixRights(fds...), nil); err != nil {
		return 0, fmt.Errorf("hand descriptors to the agent: %w", err)
	}
	return pid, nil
}

// peer is the process at the other end, whatever namespaces it is in.
func peer(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var who *unix.Ucred
	if cerr := raw.Control(func(fd uintptr) {
		who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); cerr != nil || err != nil {
		return 0, errors.Join(cerr, err)
	}
	if who.Pid == 0 {
		return 0, errors.New("its process has no id here: it runs outside this program's PID namespace")
	}
	return int(who.Pid), nil
}

// Join is the first process of a container: it fetches descriptors at the
// socket of a Meeting, runs this program with the arguments and them, and waits
// for its end, or asks for it when ctx ends. Meanwhile it is a parent to those
// that have lost theirs, as a first process must be. It returns the program's
// exit status, 128 and the signal for one that was killed.
func Join(ctx context.Context, socket string, args []string) (int, error) {
	files, err := fetch(socket)
	if err != nil {
		return 0, fmt.Errorf("join the lab: %w", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, fmt.Errorf("join the lab: %w", err)
	}
	files = append([]*os.File{null, null}, files...)
	p, err := os.StartProcess("/proc/self/exe", append([]string{os.Args[0]}, args...), &os.ProcAttr{
		Env:   os.Environ(),
		Files: files,
		Sys:   &unix.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("join the lab: %w", err)
	}
	for _, f := range files[1:] {
		f.Close() // the program alone holds its ends now
	}
	defer context.AfterFunc(ctx, func() { _ = p.Signal(unix.SIGTERM) })() // or it has ended already
	status, err := reapUntil(p.Pid)
	return status, errors.Join(err, p.Release())
}

// reapUntil reaps children, our own and inherited ones, until that one has
// ended.
func reapUntil(pid int) (int, error) {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, os.NewSyscallError("wait4", err)
		case got == pid && status.Signaled():
			return 128 + int(status.Signal()), nil
		case got == pid:
			return status.ExitStatus(), nil
		}
	}
}

// fetch gets the descriptors that Hand gives at the socket.
func fetch(socket string) ([]*os.File, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("fetch descriptors: %w", err)
	}
	defer conn.Close()
	rights := make([]byte, unix.CmsgSpace(4*maxHanded))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return nil, fmt.Errorf("fetch descriptors: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil {
		return nil, fmt.Errorf("fetch descriptors: %w", err)
	}
	var files []*os.File
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return nil, fmt.Errorf("fetch descriptors: %w", err)
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "handed over"))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("fetch descriptors: %w", ErrOwnerDied)
	}
	return files, nil
}
