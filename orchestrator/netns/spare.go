package netns

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// spareStack drops what a switch port receives once the switch's ring has its copy.
// Else the namespace's own IP layer would look for a route for each frame and find
// none, which costs a tenth of all that a frame costs the CPU. A kernel that
// cannot do it pays that price; nothing else differs.
func spareStack(port int) error {
	err := addDrop(port)
	if errors.Is(err, ebpf.ErrNotSupported) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	return err
}

// unspareStack lets the stack have what a port receives, if it did not: a bridge is
// part of it.
func unspareStack(port netlink.Link) error {
	all, err := netlink.QdiscList(port)
	if err != nil {
		return fmt.Errorf("list queueing disciplines: %w", err)
	}
	for _, q := range all {
		if q.Type() != "clsact" {
			continue
		}
		if err := netlink.QdiscDel(q); err != nil {
			return fmt.Errorf("remove the ingress hook: %w", err)
		}
	}
	return nil
}

func addDrop(port int) error {
	const shot = 2 // TC_ACT_SHOT of linux/pkt_cls.h
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name:         "drop",
		Type:         ebpf.SchedCLS,
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, shot), asm.Return()},
		License:      "GPL",
	})
	if err != nil {
		return fmt.Errorf("load the program that drops: %w", err)
	}
	defer program.Close() // the filter has it
	ingress := &netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: port, Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT}}
	if err := netlink.QdiscAdd(ingress); err != nil {
		return fmt.Errorf("add an ingress hook (CONFIG_NET_SCH_INGRESS): %w", err)
	}
	err = netlink.FilterAdd(&netlink.BpfFilter{
		FilterAttrs:  netlink.FilterAttrs{LinkIndex: port, Parent: netlink.HANDLE_MIN_INGRESS, Handle: 1, Protocol: unix.ETH_P_ALL, Priority: 1},
		Fd:           program.FD(),
		Name:         "drop",
		DirectAction: true,
	})
	if err != nil {
		return fmt.Errorf("drop what arrives (CONFIG_NET_CLS_BPF): %w", err)
	}
	return nil
}
