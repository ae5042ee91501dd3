package lockfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Try locks a file. It does not wait: [ErrHeld] says that it would have to.
func Try(f *os.File, how How) error { return lock(f, how, windows.LOCKFILE_FAIL_IMMEDIATELY) }

// Wait locks a file as soon as it can.
func Wait(f *os.File, how How) error { return lock(f, how, 0) }

// lock replaces a lock that this process has of the file.
func lock(f *os.File, how How, flags uint32) error {
	if how == Exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	h, all := windows.Handle(f.Fd()), ^uint32(0)
	_ = windows.UnlockFileEx(h, 0, all, all, new(windows.Overlapped)) // there need not be one
	err := windows.LockFileEx(h, flags, 0, all, all, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrHeld
	}
	return err
}
