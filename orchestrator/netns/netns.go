// Package netns brings up, enters and removes a lab of real Linux hosts in
// network namespaces.
//
// Every host has a namespace of its own with one interface, eth0, a veth whose
// other end lies in the switch's namespace under the host's name. The switch's
// namespace only holds those ends: they have no addresses and speak no ARP, and
// what is between them is our own switch process.
//
// Hosts see a network of routers (layer 3): each has its address as a /32 and
// one route, to the lab's subnet through the gateway 169.254.1.1, whose
// neighbour entry is permanent. So no host ever sends ARP, whose packets and
// waiting times would be in the measured traffic, and a lab of n hosts needs n
// neighbour entries in all, where a shared segment with static entries needs
// n(n-1). The switch writes a frame's destination MAC, as a router does.
package netns

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/vishvananda/netns"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// Device is the name of every host's interface.
const Device = "eth0"

// Do runs f on an OS thread of its own inside the named namespace, or in the
// caller's when the name is empty, and returns f's error.
//
// Sockets that f opens stay in that namespace. Goroutines that f starts do not
// run inside it.
func Do(namespace string, f func() error) error {
	var at netns.NsHandle = -1
	if namespace != "" {
		ns, err := netns.GetFromName(namespace)
		if err != nil {
			return fmt.Errorf("open namespace %s: %w", namespace, err)
		}
		defer ns.Close()
		at = ns
	}
	done := make(chan error, 1)
	go func() {
		err := errors.New("function ended its goroutine")
		defer func() { done <- err }()
		err = onThread(at, f)
	}()
	if err := <-done; err != nil {
		if namespace == "" {
			return err
		}
		return fmt.Errorf("in namespace %s: %w", namespace, err)
	}
	return nil
}

// onThread runs f on a locked thread inside at (when valid) and returns the
// thread to the namespace it came from. A thread that does not come back stays
// locked, so that the runtime ends it with this goroutine: nobody else ever
// runs in the wrong namespace.
func onThread(at netns.NsHandle, f func() error) (err error) {
	runtime.LockOSThread()
	home, err := netns.Get()
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("open own namespace: %w", err)
	}
	defer home.Close()
	defer func() {
		if back := comeHome(home); back != nil {
			err = errors.Join(err, fmt.Errorf("return to own namespace: %w", back))
			return
		}
		runtime.UnlockOSThread()
	}()
	if at >= 0 {
		if err := netns.Set(at); err != nil {
			return fmt.Errorf("enter: %w", err)
		}
	}
	return f()
}

// comeHome returns the thread to a namespace, if it has left it: a process in a
// container may not enter any, its own neither.
func comeHome(home netns.NsHandle) error {
	here, err := netns.Get()
	if err != nil {
		return err
	}
	defer here.Close()
	if here.Equal(home) {
		return nil
	}
	return netns.Set(home)
}

// parallel calls do with the numbers 0 to n-1, as many at once as there are usable
// CPUs, waits for all and joins their errors.
func parallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		all.Go(func() error {
			errs[i] = do(i)
			return nil
		})
	}
	_ = all.Wait() // the errors are in the list
	return errors.Join(errs...)
}

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

// portGroup marks the switch's ends of all links, and all ends of those to other machines,
// so that they can be removed in one request.
const portGroup = 0xa9
