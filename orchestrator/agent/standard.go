package agent

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Standard is the standard input and output as a stream for [ServeStream]: its reading ends
// when it is closed.
func Standard() (io.ReadWriteCloser, error) {
	for _, fd := range []int{unix.Stdin, unix.Stdout} {
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, os.NewSyscallError("fcntl", err)
		}
	}
	return &standard{os.NewFile(uintptr(unix.Stdin), "stdin"), os.NewFile(uintptr(unix.Stdout), "stdout")}, nil
}

type standard struct{ in, out *os.File }

func (s *standard) Read(b []byte) (int, error)  { return s.in.Read(b) }
func (s *standard) Write(b []byte) (int, error) { return s.out.Write(b) }
func (s *standard) Close() error                { return errors.Join(s.in.Close(), s.out.Close()) }
