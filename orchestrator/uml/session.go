package uml

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/uml/guest"
)

// Session runs guests of one kernel whose process 1 is this program. Its folder
// in $TMPDIR holds a copy of the program, and a root folder for each guest.
type Session struct {
	kernel  Kernel
	folder  *folder
	program string
	guests  atomic.Int64 // that have been started
	cpus    string       // sockets that say which CPUs guests have
}

// Open readies guests of a kernel. It also removes what killed processes of
// this user have left. The session must be closed.
func Open(k Kernel) (*Session, error) {
	f, err := newFolder(os.TempDir(), "aqmlab-uml-"+strconv.Itoa(os.Getuid()))
	if err != nil {
		return nil, fmt.Errorf("readying guests: %w", err)
	}
	s := &Session{kernel: k, folder: f, program: filepath.Join(f.path, programName), cpus: cpuSockets}
	if err := s.copyProgram(); err != nil {
		return nil, errors.Join(fmt.Errorf("readying guests: %w", err), f.remove())
	}
	return s, nil
}

// Close removes the session's folder. No guest may be running.
func (s *Session) Close() error {
	if err := s.folder.remove(); err != nil {
		return fmt.Errorf("removing the guests' folder: %w", err)
	}
	return nil
}

// programName is the program's file in a guest's root.
const programName = "aqmlab"

// copyProgram copies this program, which may be on another file system, so that
// guests can have it as a link. It stays what it is if it is rebuilt meanwhile.
func (s *Session) copyProgram() error {
	const self = "/proc/self/exe"
	static, err := host.Static(self)
	switch {
	case err != nil:
		return err
	case !static: // no guest has a dynamic linker
		return fmt.Errorf("%w can run this program: it is not static (build it with CGO_ENABLED=0)", ErrUnavailable)
	}
	from, err := os.Open(self)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(s.program, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// nextRoot is the root folder of the next guest.
func (s *Session) nextRoot() string {
	return filepath.Join(s.folder.path, strconv.FormatInt(s.guests.Add(1), 10))
}

// fill makes a guest's root folder: the program, the files, the folders to mount
// on, and what the guest is to do.
func (s *Session) fill(root string, g Guest) error {
	for _, dir := range guest.Mounts() {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.Link(s.program, filepath.Join(root, programName)); err != nil {
		return err
	}
	exchange := filepath.Join(root, guest.Dir)
	for name, text := range map[string][]byte{guest.OrderFile: g.Order, guest.SeedFile: g.seed()} {
		if err := os.WriteFile(filepath.Join(exchange, name), text, 0o644); err != nil {
			return err
		}
	}
	for _, file := range g.Files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		inside := filepath.Join(root, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(inside), 0o755), os.WriteFile(inside, text, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// begin is when every guest's calendar begins.
var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
