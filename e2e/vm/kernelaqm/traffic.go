package kernelaqm

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/units"
)

// Packet is one to send.
type Packet struct {
	At    time.Duration // since the first could be sent
	Bytes int           // with the Ethernet header, MinBytes to MaxBytes
	Flow  int           // queue of FQ-CoDel that it is to join, from 1; zero leaves that to its hash
}

// Merge is the packets of several flows in the order of time. The first are of flow 1.
func Merge(flows ...[]Packet) (all []Packet) {
	for i, packets := range flows {
		for _, p := range packets {
			p.Flow = i + 1
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b Packet) int { return cmp.Compare(a.At, b.At) })
	return all
}

// The lengths that packets may have, in bytes.
const (
	MinBytes = 64
	MaxBytes = 1514
)

// Phase is some time of traffic of one load, relative to the rate of the link.
type Phase struct {
	Load float64
	For  time.Duration
}

// Poisson makes traffic for a link of that rate: packets at exponential gaps,
// in phases of different load. All have MaxBytes, or half of them, mixed in at
// random, have any shorter length.
func Poisson(rng *rand.Rand, rate units.Rate, mixed bool, phases ...Phase) []Packet {
	var packets []Packet
	var now, end time.Duration
	for _, phase := range phases {
		end += phase.For
		for now < end {
			size := MaxBytes
			if mixed && rng.IntN(2) == 0 {
				size = MinBytes + rng.IntN(MaxBytes-MinBytes)
			}
			packets = append(packets, Packet{At: now, Bytes: size})
			now += time.Duration(rng.ExpFloat64() * float64(rate.Time(size)) / phase.Load)
		}
	}
	return packets
}

// The headers of a frame, in bytes, and fields by their place. The number
// follows the headers, where qdisc.bpf.c reads it.
const (
	ethernetSize = 14
	headersSize  = ethernetSize + 20 + 8 // IPv4 without options, UDP
	ect0         = 0b10                  // of the ECN field
	ttl          = 64
	udp          = 17
)

// frame is a full frame of an ECN-capable UDP packet from 10.0.0.1 to 10.0.0.2.
// Nobody receives it, so the checksums are left out.
func frame() []byte {
	f := make([]byte, MaxBytes)
	copy(f, []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00})
	ip := f[ethernetSize:]
	ip[0], ip[1], ip[8], ip[9] = 0x45, ect0, ttl, udp
	copy(ip[12:], []byte{10, 0, 0, 1, 10, 0, 0, 2})
	return f
}

// send gives each packet to the device when it is due.
func send(device int, packets []Packet) error {
	// One thread, and no slack in its timers.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("sharpen timers: %w", err)
	}
	socket, err := openSocket(device)
	if err != nil {
		return fmt.Errorf("open a packet socket: %w", err)
	}
	defer unix.Close(socket)
	f := frame()
	start := monotonic()
	for i, p := range packets {
		ip := f[ethernetSize:]
		binary.BigEndian.PutUint16(ip[2:], uint16(p.Bytes-ethernetSize))
		binary.BigEndian.PutUint16(ip[24:], uint16(p.Bytes-ethernetSize-20))
		binary.BigEndian.PutUint32(f[headersSize:], uint32(i))
		if err := choose(socket, p.Flow); err != nil {
			return err
		}
		if err := sleepUntil(start + p.At); err != nil {
			return err
		}
		// A full queue drops and tells so; that is an outcome to record.
		if err := unix.Send(socket, f[:p.Bytes], 0); err != nil && !errors.Is(err, unix.ENOBUFS) {
			return fmt.Errorf("send packet %d: %w", i, err)
		}
	}
	return nil
}

// choose has the discipline put what is sent from then on into a queue: one that has queues
// goes by the priority of a packet, if that names it.
func choose(socket, flow int) error {
	if flow == 0 {
		return nil
	}
	if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_PRIORITY, int(handle())|flow); err != nil {
		return fmt.Errorf("choose queue %d: %w", flow, err)
	}
	return nil
}

// openSocket opens a socket whose frames leave by the device, through its queue.
func openSocket(device int) (int, error) {
	protocol := binary.NativeEndian.Uint16([]byte{0x08, 0x00}) // IPv4 in network order
	socket, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	err = errors.Join(
		unix.Bind(socket, &unix.SockaddrLinklayer{Protocol: protocol, Ifindex: device}),
		unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, queueLimit),
	)
	if err != nil {
		return 0, errors.Join(err, unix.Close(socket))
	}
	return socket, nil
}

// monotonic is the clock that the kernel's disciplines read.
func monotonic() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // every kernel has this clock
	}
	return time.Duration(now.Nano())
}

// sleepUntil returns at once when t has passed.
func sleepUntil(t time.Duration) error {
	at := unix.NsecToTimespec(int64(t))
	for {
		err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &at, nil)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for the next packet: %w", err)
		}
	}
}
