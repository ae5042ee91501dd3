package netns

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// What a host with delays is made of, from its stack to the switch:
//
//	eth0   macvlan; token bucket (tbf) at the link's rate, see shapeUplink
//	wire0  veth; a class (htb) of flows for each delay, each held back by netem
//
// Two devices, since a token bucket on the same one would come after netem,
// whatever is whose parent: netem gives a packet's socket its room back at
// once, so that TCP's small queues would let whole windows into the host. This
// way they end at eth0, as they do without delays, and a packet is held back
// when it has left the token bucket. Then the switch's link takes its time.
const wireDevice = "wire0"

const (
	// maxDelay is what netem's clock, which counts 64 ns, has room for.
	maxDelay = 4 * time.Minute
	// maxClasses is what is left of the numbers of disciplines.
	maxClasses = 1<<15 - 1
	// delayLimit is above all that the sockets of a host can hold, in packets.
	delayLimit = math.MaxInt32
)

// delayed tells whether the lab's hosts hold back what they send.
func (p Plan) delayed() bool { return p.Delays != nil }

// hostEnd is the host's end of its link.
func (p Plan) hostEnd() string {
	if p.delayed() {
		return wireDevice
	}
	return Device
}

// stackDevice puts eth0 on top of the end of the host's link.
func stackDevice(p Plan) error {
	wire, err := netlink.LinkByName(wireDevice)
	if err != nil {
		return fmt.Errorf("find %s: %w", wireDevice, err)
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.ParentIndex, attrs.MTU, attrs.NumTxQueues = Device, wire.Attrs().Index, p.MTU, 1
	upper := &netlink.Macvlan{LinkAttrs: attrs, Mode: netlink.MACVLAN_MODE_PASSTHRU}
	if err := netlink.LinkAdd(upper); err != nil {
		return fmt.Errorf("add %s (CONFIG_MACVLAN): %w", Device, err)
	}
	// A macvlan takes super-packets, whatever its lower device says, and cannot be
	// told not to; but TCP makes none of a single segment.
	if err := netlink.LinkSetGSOMaxSegs(upper, 1); err != nil {
		return fmt.Errorf("turn off super-packets of %s: %w", Device, err)
	}
	if err := netlink.LinkSetUp(wire); err != nil {
		return fmt.Errorf("set %s up: %w", wireDevice, err)
	}
	return nil
}

// addDelays makes the host that the calling thread is in hold back what it
// sends.
func addDelays(delays []time.Duration) error {
	return onWire(func(device int) error {
		root := netlink.NewHtb(netlink.QdiscAttrs{LinkIndex: device, Parent: netlink.HANDLE_ROOT, Handle: delayRoot})
		if err := netlink.QdiscAdd(root); err != nil {
			return fmt.Errorf("add classes (CONFIG_NET_SCH_HTB): %w", err)
		}
		for i, d := range delays {
			if err := addClass(device, i, d); err != nil {
				return err
			}
		}
		return attachClassifier(device, len(delays))
	})
}

// changeDelays changes the delays of the host that the calling thread is in.
// What waits already keeps its own.
func changeDelays(delays []time.Duration) error {
	return onWire(func(device int) error {
		for i, d := range delays {
			if err := netlink.QdiscChange(netem(device, i, d)); err != nil {
				return fmt.Errorf("change delay %d to %s: %w", i, d, err)
			}
		}
		return nil
	})
}

func onWire(do func(device int) error) error {
	wire, err := netlink.LinkByName(wireDevice)
	if err != nil {
		return fmt.Errorf("find %s: %w", wireDevice, err)
	}
	if err := do(wire.Attrs().Index); err != nil {
		return fmt.Errorf("hold packets back: %w", err)
	}
	return nil
}

// addClass adds the i-th class of flows and its delay. Its rate is above that of
// any link, with room for a second of it, so that only netem makes packets wait.
func addClass(device, i int, d time.Duration) error {
	const rate, quantum = 1e12, 1 << 16 // bytes a second, bytes
	second := uint32(netlink.TickInUsec() * 1e6)
	class := &netlink.HtbClass{
		ClassAttrs: netlink.ClassAttrs{LinkIndex: device, Parent: delayRoot, Handle: classHandle(i)},
		Rate:       rate,
		Ceil:       rate,
		Buffer:     second,
		Cbuffer:    second,
		Quantum:    quantum,
	}
	if err := netlink.ClassAdd(class); err != nil {
		return fmt.Errorf("add class %d: %w", i, err)
	}
	err := netlink.QdiscAdd(netem(device, i, d))
	switch {
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("this kernel has no netem (CONFIG_NET_SCH_NETEM): %w", err)
	case err != nil:
		return fmt.Errorf("add delay %d: %w", i, err)
	}
	return nil
}

// netem is the discipline of the i-th class.
func netem(device, i int, d time.Duration) *netlink.Netem {
	return &netlink.Netem{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: device, Parent: classHandle(i), Handle: netlink.MakeHandle(uint16(2+i), 0)},
		Latency:    uint32(math.Round(float64(d) / float64(time.Microsecond) * netlink.TickInUsec())),
		Limit:      delayLimit,
	}
}

// classHandle numbers the classes from 1, as classify.bpf.c does.
func classHandle(i int) uint32 { return delayRoot | uint32(i+1) }

// CanDelay tries, in a namespace that is gone afterwards, whether hosts can
// hold back what they send (Plan.Delays). The error says what the kernel lacks.
func CanDelay() error {
	return Scratch(wireDevice, func(netlink.Link) error {
		if err := stackDevice(Plan{MTU: minMTU}); err != nil {
			return err
		}
		return addDelays([]time.Duration{time.Millisecond})
	})
}

// Scratch calls f with a link of a veth pair, of that name, in a namespace that only
// the calling thread ever sees.
func Scratch(name string, f func(netlink.Link) error) error {
	return Do("", func() error {
		ns, err := netns.New() // Do takes the thread back out of it
		if err != nil {
			return fmt.Errorf("create a namespace: %w", err)
		}
		defer ns.Close()
		link := netlink.NewVeth(netlink.LinkAttrs{Name: name, TxQLen: -1})
		link.PeerName = "peer"
		if err := netlink.LinkAdd(link); err != nil {
			return fmt.Errorf("add a link: %w", err)
		}
		return f(link)
	})
}
