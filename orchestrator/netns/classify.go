package netns

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel,bpfeb -no-global-types -cflags "-O2 -g -Wall -Wextra -Wno-unused-parameter -Werror" classify classify.bpf.c

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// loadClassifier hands the program that picks a packet's class, of that many,
// to the kernel. The caller closes it.
func loadClassifier(classes int) (*ebpf.Program, error) {
	spec, err := loadClassify()
	if err != nil {
		return nil, fmt.Errorf("read embedded classifier: %w", err)
	}
	if err := spec.Variables["classes"].Set(uint32(classes)); err != nil {
		return nil, fmt.Errorf("set the classifier's classes: %w", err)
	}
	var programs classifyPrograms
	if err := spec.LoadAndAssign(&programs, nil); err != nil {
		return nil, fmt.Errorf("load the classifier: %w", err)
	}
	return programs.Classify, nil
}

// attachClassifier lets the classifier choose between the classes of the
// discipline at the root of a device.
func attachClassifier(device, classes int) error {
	program, err := loadClassifier(classes)
	if err != nil {
		return err
	}
	defer program.Close() // the filter has it
	err = netlink.FilterAdd(&netlink.BpfFilter{
		FilterAttrs: netlink.FilterAttrs{LinkIndex: device, Parent: delayRoot, Handle: 1, Protocol: unix.ETH_P_IP, Priority: 1},
		Fd:          program.FD(),
		Name:        "classify",
	})
	if err != nil {
		return fmt.Errorf("add the classifier (CONFIG_NET_CLS_BPF): %w", err)
	}
	return nil
}

// delayRoot is the handle of the classful discipline, HANDLE in classify.bpf.c.
const delayRoot = 1 << 16
