package netns

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// timedFrames is how many frames an interface of the switch keeps at most: more
// than fit into its ring.
const timedFrames = 100_000

// KeepTimes makes the switches' interfaces towards hosts keep a frame that has a
// time (SO_TXTIME) until then, to the nanosecond. Others leave at once.
func (l *Lab) KeepTimes() error {
	for _, h := range l.Hosts {
		if err := Do(l.Switches[h.Switch], func() error { return keepTimes(h.Name) }); err != nil {
			return fmt.Errorf("keep times on lab %s's link to %s: %w", l.ID, h.Name, err)
		}
	}
	return nil
}

// keepTimes gives a device a fq that paces nothing by itself. The netlink package
// has no word for its timer slack, by which it is late otherwise.
func keepTimes(device string) error {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return err
	}
	q := nl.NewNetlinkRequest(unix.RTM_NEWQDISC, unix.NLM_F_CREATE|unix.NLM_F_REPLACE|unix.NLM_F_ACK)
	q.AddData(&nl.TcMsg{Family: nl.FAMILY_ALL, Ifindex: int32(link.Attrs().Index), Parent: netlink.HANDLE_ROOT})
	q.AddData(nl.NewRtAttr(nl.TCA_KIND, nl.ZeroTerminated("fq")))
	options := nl.NewRtAttr(nl.TCA_OPTIONS, nil)
	for _, o := range []struct {
		attribute int
		value     uint32
	}{
		{nl.TCA_FQ_PLIMIT, timedFrames},
		{nl.TCA_FQ_FLOW_PLIMIT, timedFrames},
		{nl.TCA_FQ_RATE_ENABLE, 0},
		{nl.TCA_FQ_TIMER_SLACK, 0},
	} {
		options.AddRtAttr(o.attribute, nl.Uint32Attr(o.value))
	}
	q.AddData(options)
	_, err = q.Execute(unix.NETLINK_ROUTE, 0)
	if errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("this kernel has no fq queueing discipline (CONFIG_NET_SCH_FQ): %w", err)
	}
	return err
}
