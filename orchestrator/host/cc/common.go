package cc

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// CommonName is the name by which programs ask for DCTCP.
const CommonName = "dctcp"

// Offer makes the lab's DCTCP known by [CommonName], too, for programs that know no other
// name, if that is free or stands for the same DCTCP already. Labs whose DCTCP is the
// same share the name: each holds the one link of it, so the kernel takes it away with
// the last of them, however that ends. Otherwise the name is somebody else's, and stays
// so; [Handle.Common] tells. Before Linux 6.4 there are no links to share.
func (h *Handle) Offer() error {
	if h.registration == nil || !thisMachine().links() {
		return nil
	}
	shared, err := offer(CommonName, h.variant)
	if err != nil {
		return fmt.Errorf("offer %s as %s: %w", h.name, CommonName, err)
	}
	if shared != nil {
		h.common = shared
	}
	return nil
}

// Common is the other name of the congestion control, by which programs find it, or
// empty.
func (h *Handle) Common() string {
	switch {
	case h.common != nil:
		return CommonName
	case h.provider == Kernel:
		return h.name
	}
	return ""
}

// tries bounds how often others may come and go while a name is asked for.
const tries = 5

// offer registers a DCTCP under a name that labs share, or holds the one that another
// lab has registered. It is nil if the name stands for anything else.
func offer(name string, v variant) (hold, error) {
	v.mark = v.digest(name)
	for range tries {
		if l, err := linkOf(v.mark); l != nil || err != nil {
			return l, err
		}
		r, err := register(name, v)
		if err == nil {
			return r.hold, r.states.Close()
		}
		if !errors.Is(err, unix.EEXIST) {
			return nil, err
		}
	}
	return nil, nil
}

// digest stands for a name, the programs and how they are loaded, in as many letters as
// the name of a map may have.
func (v variant) digest(name string) string {
	sum := sha256.Sum256(fmt.Appendf(_DctcpBytes, " %s %v", name, v.lossByAlpha))
	return fmt.Sprintf("%s%x", namePrefix, sum[:4])
}

// linkOf finds the link of a struct_ops map of that name; nil if there is none.
func linkOf(mark string) (hold, error) {
	all := link.Iterator{}
	defer all.Close()
	for all.Next() {
		own, ok := all.Link.(linkFD)
		if !ok {
			continue
		}
		switch is, err := isOf(own, mark); {
		case err != nil:
			return nil, err
		case is:
			all.Take()
			return linkHold{own}, nil
		}
	}
	return nil, all.Err()
}

// isOf tells whether a link is that of a struct_ops map of that name.
func isOf(l linkFD, mark string) (bool, error) {
	info, err := l.Info()
	if err != nil || info.Type != link.StructOpsType {
		return false, err
	}
	about, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", l.FD()))
	if err != nil {
		return false, err
	}
	_, after, ok := strings.Cut(string(about), "map_id:")
	var id ebpf.MapID
	if _, err := fmt.Sscan(after, &id); !ok || err != nil {
		return false, nil // its map is gone
	}
	m, err := ebpf.NewMapFromID(id)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	named, err := m.Info()
	return err == nil && named.Name == mark, errors.Join(err, m.Close())
}
