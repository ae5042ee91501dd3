package netns

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Shape of a host's transmit queue.
const (
	// uplinkBurst is the tbf's bucket in full frames. What is longer (a
	// segmentation super-packet) is cut on its way in. The bucket lets a host
	// make up for being scheduled late; the switch spaces the frames by the
	// link's rate anyway.
	uplinkBurst = 10
	// uplinkLimit is the queue's length in full frames, as many as the kernel
	// gives a device by default (txqueuelen).
	uplinkLimit = 1000
	// etherHeader is what the kernel counts of a frame beside its packet.
	etherHeader = 14
	// wireOverhead is what a frame takes on the wire beyond what the kernel
	// counts: preamble, FCS and gap.
	wireOverhead = 24
)

// shapeUplink makes the host that the calling thread is in send at its link's
// rate, as a network card does: what does not fit waits in the host's own
// queue. Without it a veth takes everything at once, and TCP never learns that
// its packets still wait for the link: its small queues (TSQ) count a packet
// only until the device has taken it. A window would then pile up behind the
// link, hidden from the switch's queues and marks, and reach the switch as one
// long burst.
func shapeUplink(p Plan, device int, route *netlink.Handle) error {
	full := uint64(p.MTU + etherHeader)
	rate := uint64(float64(p.Uplink) / 8 * float64(full) / float64(full+wireOverhead))
	// The bucket is given as the time it takes to fill, in whole microseconds:
	// at hundreds of Gbps the frames alone would make it none at all.
	burst := max(uplinkBurst*full, 2*rate/1e6)
	err := route.QdiscReplace(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: device, Parent: netlink.HANDLE_ROOT, Handle: netlink.MakeHandle(1, 0)},
		Rate:       rate,
		Limit:      uint32(uplinkLimit * full),
		Buffer:     netlink.Xmittime(rate, uint32(burst)),
	})
	switch {
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("shape uplink: this kernel has no tbf queueing discipline (CONFIG_NET_SCH_TBF): %w", err)
	case err != nil:
		return fmt.Errorf("shape uplink: %w", err)
	}
	return nil
}
