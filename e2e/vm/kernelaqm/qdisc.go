package kernelaqm

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Qdisc is a queueing discipline of the kernel and its parameters. It marks
// packets that are ECN-capable.
type Qdisc struct {
	kind    string
	options [][]byte // by the number of the attribute; nil ones are left to the kernel
}

// queueLimit is above any backlog here, in packets or bytes.
const queueLimit = 1 << 26

// CoDel is sch_codel. It counts time in steps of 1024 ns, which target and
// interval are rounded down to. With ecn false it drops.
func CoDel(target, interval time.Duration, ecn bool) Qdisc {
	return Qdisc{"codel", [][]byte{
		1: micros(target),
		2: nl.Uint32Attr(queueLimit), // packets
		3: micros(interval),
		4: flag(ecn),
	}}
}

// PIE is sch_pie with the kernel's alpha (2/16), beta (20/16) and measure of the
// delay (time stamps). Its timer ticks with the kernel's clock, so that the
// controller's period is tupdate rounded up to a tick and one tick more.
func PIE(target, tupdate time.Duration) Qdisc {
	return Qdisc{"pie", [][]byte{
		1: micros(target),
		2: nl.Uint32Attr(queueLimit), // packets
		3: micros(tupdate),
		6: flag(true),
	}}
}

// RED is sch_red: thresholds in bytes on the averaged length, in which the
// current length weighs 2^-weightLog, and the probability of a mark at max, in
// (0, 1).
func RED(lower, upper, weightLog int, pmax float64) Qdisc {
	const marks = 1 // TC_RED_ECN
	parameters := make([]byte, 0, 16)
	for _, v := range []int{queueLimit, lower, upper} {
		parameters = binary.NativeEndian.AppendUint32(parameters, uint32(v))
	}
	parameters = append(parameters, byte(weightLog), 0, 0, marks)
	return Qdisc{"red", [][]byte{
		1: parameters,
		2: make([]byte, 256), // how idle time ages the average, which is never asked for below a token bucket
		3: nl.Uint32Attr(uint32(pmax * (1 << 32))),
	}}
}

// FQCoDel is sch_fq_codel with that many queues for flows and that quantum in bytes. It
// reckons time as [CoDel] does. With ecn false it drops.
func FQCoDel(target, interval time.Duration, flows, quantum int, ecn bool) Qdisc {
	return Qdisc{"fq_codel", [][]byte{
		1: micros(target),
		2: nl.Uint32Attr(queueLimit), // packets
		3: micros(interval),
		4: flag(ecn),
		5: nl.Uint32Attr(uint32(flows)),
		6: nl.Uint32Attr(uint32(quantum)),
		9: nl.Uint32Attr(queueLimit), // bytes of memory
	}}
}

func micros(d time.Duration) []byte { return nl.Uint32Attr(uint32(d / time.Microsecond)) }

func flag(on bool) []byte {
	if on {
		return nl.Uint32Attr(1)
	}
	return nl.Uint32Attr(0)
}

// handle is the discipline's own.
func handle() uint32 { return netlink.MakeHandle(2, 0) }

// add puts the discipline below a parent. The netlink package does not know all of these.
func (q Qdisc) add(device, parent uint32) error {
	request := nl.NewNetlinkRequest(unix.RTM_NEWQDISC, unix.NLM_F_CREATE|unix.NLM_F_EXCL|unix.NLM_F_ACK)
	request.AddData(&nl.TcMsg{
		Family:  nl.FAMILY_ALL,
		Ifindex: int32(device),
		Handle:  handle(),
		Parent:  parent,
	})
	request.AddData(nl.NewRtAttr(nl.TCA_KIND, nl.ZeroTerminated(q.kind)))
	options := nl.NewRtAttr(nl.TCA_OPTIONS, nil)
	for attribute, value := range q.options {
		if value != nil {
			options.AddRtAttr(attribute, value)
		}
	}
	request.AddData(options)
	if _, err := request.Execute(unix.NETLINK_ROUTE, 0); err != nil {
		return fmt.Errorf("add queueing discipline %s: %w", q.kind, err)
	}
	return nil
}
