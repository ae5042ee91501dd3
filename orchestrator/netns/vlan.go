package netns

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// vlan is a link to another machine by frames with a tag (IEEE 802.1Q), which take no
// room from its packets.
type vlan struct {
	id       int
	on       string // interface of the underlay
	underlay string
	mtu      int
}

// vlan is the link of that number.
func (p Plan) vlan(number int) vlan {
	s := p.Spread
	return vlan{id: p.vlanID(number), on: s.Interfaces[s.Here], underlay: s.Underlay, mtu: p.MTU}
}

// ErrVLANInUse is the error for an id of a VLAN that an interface has already.
var ErrVLANInUse = errors.New("a VLAN is in use")

// add makes this machine's end of the link.
func (v vlan) add(ctx context.Context, e end) error {
	ns, err := netns.GetFromName(e.namespace)
	if err != nil {
		return fmt.Errorf("open namespace %s: %w", e.namespace, err)
	}
	defer ns.Close()
	return Do(v.underlay, func() error {
		on, err := InterfaceOf(v.on)
		if err != nil {
			return err
		}
		if room := on.Attrs().MTU; v.mtu > room {
			return v.tooSmall(room)
		}
		attrs := e.attrs(v.mtu)
		attrs.ParentIndex, attrs.Group, attrs.Namespace = on.Attrs().Index, portGroup, netlink.NsFd(ns)
		return v.await(ctx, attrs)
	})
}

func (v vlan) tooSmall(room int) error {
	return fmt.Errorf("%w: %s takes packets of %d bytes in VLANs: want host.mtu of at most %[3]d, or a larger MTU there", ErrTooSmall, v.on, room)
}

// What a lab leaves in a container's namespace goes in the kernel's own time after the
// container.
const (
	vlanWait = 5 * time.Second
	vlanLook = 20 * time.Millisecond // between two tries
)

// await makes the device as soon as its id is free.
func (v vlan) await(ctx context.Context, attrs netlink.LinkAttrs) error {
	ctx, cancel := context.WithTimeout(ctx, vlanWait)
	defer cancel()
	for {
		err := v.make(attrs)
		if !errors.Is(err, ErrVLANInUse) {
			return err
		}
		select {
		case <-time.After(vlanLook):
		case <-ctx.Done():
			return err
		}
	}
}

// make makes the device on that which attrs name as its parent.
func (v vlan) make(attrs netlink.LinkAttrs) error {
	link := &netlink.Vlan{LinkAttrs: attrs, VlanId: v.id, VlanProtocol: netlink.VLAN_PROTOCOL_8021Q}
	err := netlink.LinkAdd(link)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EEXIST):
		return fmt.Errorf("%w: %s has one of id %d, of another lab that is up or of somebody else, maybe in a namespace where ip link does not show it: want other ids in vlans", ErrVLANInUse, v.on, v.id)
	case errors.Is(err, unix.EINVAL) && attrs.MTU > 0: // the interface counts the tag as a part of its packets
		return errors.Join(v.tooSmall(attrs.MTU-tag), err)
	}
	return fmt.Errorf("add a VLAN of %s, id %d (CONFIG_VLAN_8021Q, and an interface that takes tags): %w", v.on, v.id, err)
}

// tag is what a VLAN adds to a frame.
const tag = 4

// CanVLAN tries, in a namespace that is gone afterwards, whether links to other machines
// can be VLANs. The error says what the kernel lacks.
func CanVLAN() error {
	return Scratch("outer0", func(outer netlink.Link) error {
		return vlan{id: 1, on: "outer0"}.make(netlink.LinkAttrs{Name: "inner0", ParentIndex: outer.Attrs().Index})
	})
}

// InterfaceOf finds the interface of that name in the calling thread's namespace, which
// must be up: else its VLANs carry nothing.
func InterfaceOf(name string) (netlink.Link, error) {
	all, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	var names []string
	for _, l := range all {
		a := l.Attrs()
		switch {
		case a.Name == name && a.RawFlags&unix.IFF_UP == 0:
			return nil, fmt.Errorf("interface %s of this machine is down: want it up (ip link set %[1]s up)", name)
		case a.Name == name:
			return l, nil
		case a.RawFlags&unix.IFF_LOOPBACK == 0:
			names = append(names, a.Name)
		}
	}
	return nil, fmt.Errorf("this machine has no interface %s: want one of %s in the key interface of the machine", name, strings.Join(names, ", "))
}
