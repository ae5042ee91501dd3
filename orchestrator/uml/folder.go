package uml

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// folder is a temporary folder that says by a lock whether its owner is alive,
// so that the next one can remove what a killed one has left.
type folder struct {
	path string
	lock *os.File
}

// lockName is the file in a folder that its owner has locked.
const lockName = ".lock"

// newFolder makes a folder below parent, after removing those of the same name
// that nobody owns any more.
func newFolder(ctx context.Context, parent, name string) (*folder, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, err
	}
	if err := sweep(ctx, filepath.Join(parent, name+"-*")); err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(parent, name+"-")
	if err != nil {
		return nil, err
	}
	// The lock appears when it is held: until then nobody takes the folder for
	// one without an owner.
	file := filepath.Join(path, lockName)
	lock, err := locked(file+".new", os.O_CREATE)
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return &folder{path, lock}, nil
}

// locked opens a file and takes its lock, which another owner may have.
func locked(file string, flags int) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(os.NewSyscallError("flock", err), f.Close())
	}
	return f, nil
}

// own tells whether a path is a folder of this user's, and no link to one. Anybody may
// make folders of our name in /tmp.
func own(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// sweep removes the folders of this user's that have a lock which nobody holds.
func sweep(ctx context.Context, pattern string) error {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range found {
		if !own(path) {
			continue
		}
		f, err := locked(filepath.Join(path, lockName), 0)
		if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			continue // somebody's, or gone
		}
		if err == nil {
			err = (&folder{path, f}).remove(ctx)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("removing what a killed process left: %w", err))
		}
	}
	return errors.Join(errs...)
}

// moment is how long the end of a command may wait for a folder to go.
const moment = 300 * time.Millisecond

// remove removes the folder with all that is in it, its lock last: whoever is killed
// meanwhile leaves a folder that is known to be nobody's. Removing it twice is no error.
// A process of its own does that. A kernel's tree may take it long: when ctx has ended, it
// goes on alone, and nobody else takes the folder for one without an owner.
func (f *folder) remove(ctx context.Context) error {
	args := []string{"-c", `rm -rf -- "$@" && rm -rf -- "$0"`, f.path}
	entries, _ := os.ReadDir(f.path) // of one that is gone: none
	for _, e := range entries {
		if e.Name() != lockName {
			args = append(args, filepath.Join(f.path, e.Name()))
		}
	}
	c := exec.Command("sh", args...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a signal to our group is not for it
	var said bytes.Buffer
	c.Stderr = &said
	if _, err := f.lock.Stat(); err == nil {
		c.ExtraFiles = []*os.File{f.lock} // which it holds, too
	}
	err := c.Start()
	if err == nil {
		err = await(ctx, c)
	}
	if err != nil {
		err = fmt.Errorf("removing %s: %w\n%s", f.path, err, bytes.TrimSpace(said.Bytes()))
	}
	if cerr := f.lock.Close(); !errors.Is(cerr, os.ErrClosed) {
		err = errors.Join(err, cerr)
	}
	return err
}

// await waits for the end of a command, but hardly longer than ctx.
func await(ctx context.Context, c *exec.Cmd) error {
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(moment):
		return nil
	}
}
