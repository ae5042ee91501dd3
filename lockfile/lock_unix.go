//go:build unix

package lockfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Try locks a file or a folder. It does not wait: [ErrHeld] says that it would have to.
func Try(f *os.File, how How) error { return flock(f, how, unix.LOCK_NB) }

// Wait locks a file or a folder as soon as it can.
func Wait(f *os.File, how How) error { return flock(f, how, 0) }

func flock(f *os.File, how How, flags int) error {
	kind := unix.LOCK_EX
	if how == Shared {
		kind = unix.LOCK_SH
	}
	err := unix.Flock(int(f.Fd()), kind|flags)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrHeld
	}
	return err
}
