package netns

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// dir is where named namespaces lie, for `ip netns exec` as well.
const dir = "/run/netns"

// path returns the file that a named namespace is mounted on.
func path(namespace string) string { return filepath.Join(dir, namespace) }

// readyDir makes the directory of named namespaces a shared mount, as the first
// `ip netns add` on a machine does. Done by that when namespaces of ours lie there
// already, it would cover their mounts, which nobody could unmount any more.
func readyDir() error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	// What iproute2 locks, too: two at once would cover each other's.
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := unix.Flock(int(d.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", dir, err)
	}
	share := func() error { return unix.Mount("", dir, "", unix.MS_SHARED|unix.MS_REC, "") }
	err = share()
	if errors.Is(err, unix.EINVAL) { // it is no mount yet
		err = unix.Mount(dir, dir, "", unix.MS_BIND|unix.MS_REC, "")
		if err == nil {
			err = share()
		}
	}
	if err != nil {
		return fmt.Errorf("make %s a shared mount: %w", dir, err)
	}
	return nil
}
