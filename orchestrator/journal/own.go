package journal

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// RootVar is the environment variable that names another folder than [DefaultRoot], for labs that
// commands with the default one shall neither list nor remove.
const RootVar = "AQMLAB_STATE"

// A user who could open the files of another one's labs could keep them locked, and one
// who could write them could have things removed. So they are their owner's alone.
const (
	fileMode   = 0o600
	folderMode = 0o700
	othersMay  = 0o022 // write
)

// openOwn opens a file of this user's for reading and writing, and never what a link
// names.
func openOwn(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|flags|unix.O_NOFOLLOW|unix.O_NONBLOCK, fileMode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = owned(path, info)
	}
	if err == nil && info.Mode().Perm() != fileMode { // an earlier version made it
		err = f.Chmod(fileMode)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ownFolder is an error unless a folder is this user's, and nobody else may write there.
func ownFolder(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", path)
	case info.Mode().Perm()&othersMay != 0:
		return fmt.Errorf("other users may write to %s: want a folder that only its owner may write to (chmod go-w, or name another by %s)", path, RootVar)
	}
	return owned(path, info)
}

// owned is an error unless what is at a path is this user's.
func owned(path string, info os.FileInfo) error {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d: move it away, or name another folder by %s", path, s.Uid, RootVar)
	}
	return nil
}
