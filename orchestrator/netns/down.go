package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/journal"
)

// Remove is the journal's Undoer of namespaces. It kills the processes inside
// them. When it returns, the namespaces' names and all links between them are
// gone, even if some process elsewhere still holds one of them.
func Remove(entries []journal.Entry) error {
	ordered := slices.Clone(entries)
	slices.Reverse(ordered) // the switch's, recorded first, holds all the links
	return errors.Join(killStrays(entries), removeAll(ordered))
}

// removeAll removes namespaces, the one with the switch's ports first.
//
// Deleting a namespace returns before the kernel has deleted what is inside, and
// the next lab would stumble over the rest. Deleting the ports takes both ends of
// every link away before it returns, all in one go; a namespace with nothing
// but a loopback may then go in its own time.
func removeAll(entries []journal.Entry) error {
	var errs []error
	for _, e := range entries {
		errs = append(errs, removePorts(e.Name))
	}
	errs = append(errs, parallel(len(entries), func(i int) error { return remove(entries[i].Name) }))
	return errors.Join(errs...)
}

// removePorts deletes all links whose switch end is in the namespace, and those to other
// machines. There are none in one that was never made, and rarely one in a host's.
func removePorts(namespace string) error {
	err := Do(namespace, removeGroup)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EINVAL) {
		return nil // no such namespace, or only the file that it was to be mounted on
	}
	return err
}

// removeGroup deletes all links of the group in the calling thread's namespace.
func removeGroup() error {
	request := nl.NewNetlinkRequest(unix.RTM_DELLINK, unix.NLM_F_ACK)
	request.AddData(nl.NewIfInfomsg(unix.AF_UNSPEC))
	request.AddData(nl.NewRtAttr(unix.IFLA_GROUP, nl.Uint32Attr(portGroup)))
	_, err := request.Execute(unix.NETLINK_ROUTE, 0)
	if errors.Is(err, unix.ENODEV) {
		return nil // none are there
	}
	if err != nil {
		return fmt.Errorf("delete links: %w", err)
	}
	return nil
}

// remove unmounts a named namespace and removes its file. Either may be
// missing: an owner can die between any two steps.
func remove(namespace string) error {
	file := path(namespace)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil // which takes no rights to find out
	}
	err := unix.Unmount(file, unix.MNT_DETACH)
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmount namespace %s: %w", namespace, err)
	}
	// This also unmounts it in other mount namespaces, such as those of Exec.
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove namespace %s: %w", namespace, err)
	}
	return nil
}

// inode is a namespace's identity, whatever names it has.
type inode struct{ dev, ino uint64 }

func inodeOf(path string) (inode, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return inode{}, err
	}
	return inode{st.Dev, st.Ino}, nil
}

// strayWait bounds how long a killed process may take to die.
const strayWait = 5 * time.Second

// killStrays kills the processes that run inside the namespaces: what a user
// started on a host and did not end, such as a server in the background. They
// would live on in a namespace without a name, out of everybody's sight.
func killStrays(entries []journal.Entry) error {
	doomed := map[inode]bool{}
	for _, e := range entries {
		// An owner that died early leaves a name without a namespace: then the
		// file lies on the file system of /run, and no process is "in" it.
		if id, err := inodeOf(path(e.Name)); err == nil {
			doomed[id] = true
		}
	}
	// What is killed may have had a child after the look that found it: look
	// again until there is nothing to kill.
	deadline := time.Now().Add(strayWait)
	for {
		fds, err := killAllInside(doomed)
		if err = errors.Join(err, awaitDeaths(fds, deadline)); err != nil || len(fds) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes still appear in the namespaces after %s of killing them", strayWait)
		}
	}
}

// killAllInside kills what it finds in the namespaces, and returns pidfds to
// wait on.
func killAllInside(doomed map[inode]bool) (fds []int, err error) {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("look for processes in namespaces: %w", err)
	}
	var errs []error
	for _, p := range procs {
		pid, err := strconv.Atoi(p.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		fd, err := killInside(pid, doomed)
		if err != nil {
			errs = append(errs, fmt.Errorf("kill process %d: %w", pid, err))
		}
		if fd >= 0 {
			fds = append(fds, fd)
		}
	}
	return fds, errors.Join(errs...)
}

// killInside kills a process if it is in one of the namespaces, and returns a
// pidfd to wait on, or -1.
func killInside(pid int, doomed map[inode]bool) (int, error) {
	inside := func() (bool, error) {
		id, err := inodeOf("/proc/" + strconv.Itoa(pid) + "/ns/net")
		return err == nil && doomed[id], nil // an error: it is gone, or a zombie
	}
	if is, _ := inside(); !is { // as nearly all
		return -1, nil
	}
	return host.Kill(pid, inside)
}

// awaitDeaths waits for killed processes, and closes their pidfds.
func awaitDeaths(fds []int, deadline time.Time) error {
	var errs []error
	for _, fd := range fds {
		if err := host.AwaitDeath(fd, deadline); err != nil {
			errs = append(errs, fmt.Errorf("a process is still in a namespace %s after it was killed: %w", strayWait, err))
		}
		errs = append(errs, unix.Close(fd))
	}
	return errors.Join(errs...)
}
