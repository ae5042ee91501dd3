package netns

import (
	"errors"
	"fmt"
	"os"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

var errOwn = errors.New("it is this program's own namespace")

// namespace makes the named namespace of a node, or gives the name to the one
// that the node has already, and leaves the calling thread inside it.
func (p Plan) namespace(node, name string) (netns.NsHandle, error) {
	pid, ok := p.Owners[node]
	if !ok {
		return create(name)
	}
	// Of this process that would be the namespace which its first thread happens to
	// be in.
	if pid == os.Getpid() {
		return -1, errOwn
	}
	ns, err := netns.GetFromPid(pid)
	if err != nil {
		return ns, fmt.Errorf("open the namespace of process %d: %w", pid, err)
	}
	if err := errors.Join(adopt(ns, name), netns.Set(ns)); err != nil {
		return ns, errors.Join(fmt.Errorf("adopt the namespace of process %d as %s: %w", pid, name, err), ns.Close())
	}
	return ns, nil
}

// adopt gives a name to a namespace, which stays as long as it has the name.
func adopt(ns netns.NsHandle, name string) error {
	// By descriptor, not by process: its id may be another's by now.
	from := fmt.Sprintf("/proc/thread-self/fd/%d", ns)
	theirs, err := inodeOf(from)
	if err != nil {
		return err
	}
	if own, err := inodeOf("/proc/self/ns/net"); err != nil || own == theirs {
		// It would turn the machine's own network into a host's.
		return errors.Join(err, errOwn)
	}
	file, err := os.OpenFile(path(name), os.O_RDONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.NewSyscallError("mount", unix.Mount(from, path(name), "", unix.MS_BIND, ""))
}

// create makes a named namespace and leaves the calling thread inside it.
func create(name string) (netns.NsHandle, error) {
	ns, err := netns.NewNamed(name)
	if err != nil {
		return ns, fmt.Errorf("create namespace %s: %w", name, err)
	}
	return ns, nil
}
