package kernelaqm

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/vishvananda/netlink"

	"aqmlab/units"
)

// deviceName is the device that packets leave by, into nothing.
const deviceName = "aqm0"

// bucket is the token bucket of the device in bytes: a full frame, which does
// not fit exactly because the kernel keeps it as a time.
const bucket = 1600

// Record makes a device whose only queue is q and which sends at rate (of
// Ethernet frames, without preamble and gap), gives it the packets, and returns
// what happened to them, in order, until the queue has run empty.
//
// The token bucket below q takes a packet off q when the one before has left,
// and holds it for its own time, as the transmitter of a link does.
func Record(q Qdisc, rate units.Rate, packets []Packet) (events []Event, err error) {
	r, err := attach(q.kind)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	device, err := makeDevice(q, rate)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := netlink.LinkDel(device); e != nil {
			err = errors.Join(err, fmt.Errorf("remove device %s: %w", deviceName, e))
		}
	}()
	if err := send(device.Attrs().Index, packets); err != nil {
		return nil, err
	}
	if err := settle(rate, packets); err != nil {
		return nil, err
	}
	return r.events()
}

// settle waits until all packets have surely left.
func settle(rate units.Rate, packets []Packet) error {
	var total time.Duration
	for _, p := range packets {
		total += rate.Time(p.Bytes)
	}
	return sleepUntil(monotonic() + total)
}

func makeDevice(q Qdisc, rate units.Rate) (netlink.Link, error) {
	device := &netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: deviceName}}
	if err := netlink.LinkAdd(device); err != nil {
		return nil, fmt.Errorf("make device %s: %w", deviceName, err)
	}
	if err := setUp(device, q, rate); err != nil {
		return nil, errors.Join(err, netlink.LinkDel(device))
	}
	return device, nil
}

func setUp(device netlink.Link, q Qdisc, rate units.Rate) error {
	// IPv6 would send packets of its own.
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+deviceName+"/disable_ipv6", []byte("1"), 0); err != nil {
		return fmt.Errorf("keep IPv6 off device %s: %w", deviceName, err)
	}
	if err := netlink.LinkSetUp(device); err != nil {
		return fmt.Errorf("bring device %s up: %w", deviceName, err)
	}
	bytesPerSecond := uint64(rate) / 8
	err := netlink.QdiscAdd(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{
			LinkIndex: device.Attrs().Index,
			Handle:    netlink.MakeHandle(1, 0),
			Parent:    netlink.HANDLE_ROOT,
		},
		Rate:   bytesPerSecond,
		Limit:  queueLimit,
		Buffer: netlink.Xmittime(bytesPerSecond, bucket),
	})
	if err != nil {
		return fmt.Errorf("add a token bucket to device %s: %w", deviceName, err)
	}
	return q.add(uint32(device.Attrs().Index), netlink.MakeHandle(1, 1))
}
