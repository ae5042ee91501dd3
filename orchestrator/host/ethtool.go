package host

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ethtool reads and sets the features of network devices: what they do with
// frames by themselves. It serves the namespace that it was opened in, and one
// goroutine at a time.
//
// It is our own for want of a sound one: github.com/safchain/ethtool v0.7.0 hands
// the kernel addresses of Go's stack as plain numbers, which the runtime does not
// adapt when it moves the stack.
type Ethtool struct {
	fd    int
	names []string // of the kernel's features by their number, once it was asked
}

// OpenEthtool opens it in the calling thread's namespace.
func OpenEthtool() (*Ethtool, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open a socket for ethtool: %w", err)
	}
	return &Ethtool{fd: fd}, nil
}

// Close closes it.
func (e *Ethtool) Close() error { return unix.Close(e.fd) }

// Features tells which features of a device are on, by their names in
// net/ethtool/common.c, netdev_features_strings.
func (e *Ethtool) Features(device string) (map[string]bool, error) {
	if err := e.ask(device); err != nil {
		return nil, err
	}
	// struct ethtool_gfeatures: a block of 32 features has the words available,
	// requested, active, never changed.
	const words, active = 4, 2
	blocks := (len(e.names) + 31) / 32
	get := append([]uint32{unix.ETHTOOL_GFEATURES, uint32(blocks)}, make([]uint32, words*blocks)...)
	if err := e.call(device, unsafe.Pointer(&get[0])); err != nil {
		return nil, err
	}
	on := make(map[string]bool, len(e.names))
	for i, name := range e.names {
		if name != "" {
			on[name] = get[2+i/32*words+active]>>(i%32)&1 == 1
		}
	}
	return on, nil
}

// TurnOff turns features of a device off. It says nothing of those that the device
// cannot be without.
func (e *Ethtool) TurnOff(device string, off func(feature string) bool) error {
	if err := e.ask(device); err != nil {
		return err
	}
	// struct ethtool_sfeatures: a block of 32 features has the words valid, requested.
	blocks := (len(e.names) + 31) / 32
	set := append([]uint32{unix.ETHTOOL_SFEATURES, uint32(blocks)}, make([]uint32, 2*blocks)...)
	for i, name := range e.names {
		if off(name) {
			set[2+i/32*2] |= 1 << (i % 32)
		}
	}
	return e.call(device, unsafe.Pointer(&set[0]))
}

// ask learns the names of the features, which are the same for all devices.
func (e *Ethtool) ask(device string) error {
	if e.names != nil {
		return nil
	}
	const (
		features = 4  // their number among the sets of strings, ETH_SS_FEATURES
		length   = 32 // of a name, ETH_GSTRING_LEN
	)
	set := struct { // ethtool_sset_info
		command, _ uint32
		mask       uint64
		size       uint32
	}{command: unix.ETHTOOL_GSSET_INFO, mask: 1 << features}
	if err := e.call(device, unsafe.Pointer(&set)); err != nil {
		return err
	}
	n := int(set.size)
	// struct ethtool_gstrings: the strings follow three words.
	list := append([]uint32{unix.ETHTOOL_GSTRINGS, features, uint32(n)}, make([]uint32, n*length/4)...)
	if err := e.call(device, unsafe.Pointer(&list[0])); err != nil {
		return err
	}
	text := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list[3:]))), n*length)
	for i := range n {
		name, _, _ := bytes.Cut(text[i*length:][:length], []byte{0})
		e.names = append(e.names, string(name))
	}
	return nil
}

// request is struct ifreq, as long as that of any architecture.
type request struct {
	device [unix.IFNAMSIZ]byte
	data   unsafe.Pointer
	_      [16]byte
}

// call hands a command to the kernel, which may write its answer over it.
func (e *Ethtool) call(device string, command unsafe.Pointer) error {
	if len(device) >= unix.IFNAMSIZ {
		return errors.New("no device has so long a name")
	}
	r := request{data: command}
	copy(r.device[:], device)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(e.fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&r))); errno != 0 {
		return errno
	}
	return nil
}

// DisableOffloads turns off, on a device in the calling thread's namespace,
// everything that leaves checksums unwritten or makes one frame of many:
// checksums, scatter-gather, segmentation and receive merging. A software
// switch needs all of it off. With transmit checksums on, ping works and TCP
// never connects; with merging on, frames beyond the MTU reach the switch, which would
// queue, mark and drop the merged packet as one.
//
// The device is read back, and what did not turn off is an error.
func DisableOffloads(device string) error {
	e, err := OpenEthtool()
	if err != nil {
		return err
	}
	defer e.Close()
	if err := e.TurnOff(device, reshapes); err != nil {
		return fmt.Errorf("turn off offloads of %s: %w", device, err)
	}
	on, err := offloads(e, device)
	if err != nil {
		return err
	}
	if len(on) > 0 {
		return fmt.Errorf("turn off offloads of %s: still on: %s", device, strings.Join(on, ", "))
	}
	return nil
}

// offloads lists the device's active offloads that DisableOffloads is about.
func offloads(e *Ethtool, device string) ([]string, error) {
	features, err := e.Features(device)
	if err != nil {
		return nil, fmt.Errorf("read offloads of %s: %w", device, err)
	}
	var on []string
	for name, active := range features {
		if active && reshapes(name) {
			on = append(on, name)
		}
	}
	slices.Sort(on)
	return on, nil
}

// reshapes tells whether the kernel's feature of this name changes what
// frames look like on the wire. Names are those of
// net/ethtool/common.c, netdev_features_strings.
func reshapes(feature string) bool {
	for _, family := range []string{
		"rx-checksum", "tx-checksum-", "tx-scatter-gather", "tx-gso-", "rx-gro", "rx-lro",
	} {
		if strings.HasPrefix(feature, family) {
			return true
		}
	}
	return strings.HasPrefix(feature, "tx-") && strings.HasSuffix(feature, "-segmentation")
}
