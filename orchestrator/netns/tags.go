package netns

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"aqmlab/orchestrator/host"
)

// Tags are VLANs of an interface in a namespace of their own, for a look at what passes
// between machines. They go when they are closed, or with the process.
type Tags struct {
	ns    netns.NsHandle
	inUse []int
}

// OpenTags makes a VLAN of an interface for each id that is free there. In each, the
// machine of a number, from 1 on, has the address that [TagAddr] tells.
func OpenTags(ctx context.Context, on string, ids []int, number int) (*Tags, error) {
	t := new(Tags)
	err := Do("", func() (err error) {
		if t.ns, err = netns.New(); err != nil { // Do takes the thread back out of it
			return fmt.Errorf("create a namespace: %w", err)
		}
		return host.DisableIPv6()
	})
	if err != nil {
		return nil, err
	}
	if err := t.make(ctx, on, ids, number); err != nil {
		return nil, errors.Join(fmt.Errorf("make VLANs of %s: %w", on, err), t.Close())
	}
	return t, nil
}

// InUse are the ids that somebody else has on the interface.
func (t *Tags) InUse() []int { return t.inUse }

// Close removes them. Their ids are free when it returns.
func (t *Tags) Close() error { return errors.Join(t.Do(removeGroup), t.ns.Close()) }

// Do runs f as [Do] does, where the VLANs are.
func (t *Tags) Do(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- onThread(t.ns, f) }()
	return <-done
}

// TagAddr is the address of the machine of a number in the VLAN of an id.
func TagAddr(id, number int) netip.Addr {
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], 10<<24|uint32(id)<<tagHosts|uint32(number))
	return netip.AddrFrom4(a)
}

// tagHosts is how many bits of an address tell machines apart.
const tagHosts = 12

func (t *Tags) make(ctx context.Context, on string, ids []int, number int) error {
	if most := 1<<tagHosts - 2; number < 1 || number > most {
		return fmt.Errorf("machine number %d: want 1 to %d", number, most)
	}
	var made []int
	err := Do("", func() error {
		link, err := InterfaceOf(on)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			err := vlan{id: id, on: on}.make(t.attrs(link, id))
			switch {
			case errors.Is(err, ErrVLANInUse):
				t.inUse = append(t.inUse, id)
			case err != nil:
				return err
			default:
				made = append(made, id)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.Do(func() error {
		for _, id := range made {
			if err := setUpTag(ctx, id, number); err != nil {
				return err
			}
		}
		return nil
	})
}

func tagName(id int) string { return fmt.Sprintf("v%d", id) }

// attrs give the device an address of its own, as the links of labs have: a network that
// lets pass none but those of interfaces is no use to them.
func (t *Tags) attrs(on netlink.Link, id int) netlink.LinkAttrs {
	m := MAC{0x02, 0xab}
	_, _ = rand.Read(m[2:]) // never fails
	return netlink.LinkAttrs{Name: tagName(id), TxQLen: -1, Group: portGroup, HardwareAddr: m[:], ParentIndex: on.Attrs().Index, Namespace: netlink.NsFd(t.ns)}
}

// setUpTag readies the device of an id in the calling thread's namespace.
func setUpTag(ctx context.Context, id, number int) error {
	link, err := netlink.LinkByName(tagName(id))
	if err != nil {
		return fmt.Errorf("find %s: %w", tagName(id), err)
	}
	addr := &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(TagAddr(id, number), 32-tagHosts))}
	if err := netlink.AddrAdd(link, addr); err != nil {
		return fmt.Errorf("add address %s: %w", addr, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("set %s up: %w", tagName(id), err)
	}
	return awaitCarrier(ctx, link.Attrs().Index)
}
