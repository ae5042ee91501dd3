package store

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// openLock opens what is locked of a folder: a file beside it, as a folder cannot be locked,
// and cannot be renamed while a file in it is open. Nothing of it stays when it is closed.
func openLock(dir string) (*os.File, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	path := filepath.Clean(dir) + ".lock"
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE|windows.DELETE, share, nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	if err != nil {
		return nil, &os.PathError{Op: "opening", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// stands tells whether a folder is still there.
func stands(dir string, _ *os.File) bool {
	_, err := os.Lstat(dir)
	return err == nil
}

// syncDir has nothing to do: Windows keeps the entries of folders by itself.
func syncDir(string) error { return nil }

// writable leaves it to the first file that is made in a folder: who may make some is told
// by lists of rights that nobody else evaluates.
func writable(string) error { return nil }
