package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

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
	unlink := func(next func() (int, bool)) error {
		var errs []error
		for i, ok := next(); ok; i, ok = next() {
			errs = append(errs, remove(entries[i].Name))
		}
		return errors.Join(errs...)
	}
	return errors.Join(errors.Join(errs...), parallel(len(entries), unlink))
}

// removePorts deletes all links whose switch end is in the namespace. There
// are none in a host's, or in one that was never made.
func removePorts(namespace string) error {
	err := Do(namespace, func() error {
		request := nl.NewNetlinkRequest(unix.RTM_DELLINK, unix.NLM_F_ACK)
		request.AddData(nl.NewIfInfomsg(unix.AF_UNSPEC))
		request.AddData(nl.NewRtAttr(unix.IFLA_GROUP, nl.Uint32Attr(portGroup)))
		_, err := request.Execute(unix.NETLINK_ROUTE, 0)
		if errors.Is(err, unix.ENODEV) {
			return nil // no such ports
		}
		if err != nil {
			return fmt.Errorf("delete switch ports: %w", err)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EINVAL) {
		return nil // no such namespace, or only the file that it was to be mounted on
	}
	return err
}

// remove unmounts a named namespace and removes its file. Either may be
// missing: an owner can die between any two steps.
func remove(namespace string) error {
	file := path(namespace)
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
