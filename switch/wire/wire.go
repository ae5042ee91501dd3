//go:build linux

// Package wire runs a fabric between real hosts: frames come from and go to
// kernel interfaces, and lab time follows the wall clock.
//
// One locked thread does everything: it takes frames from all rings, gives
// them to the fabric with the kernel's receive stamps, runs the events that
// are due, and waits. Marking, scheduling and departures happen at exact lab
// times even when the loop wakes late; a late wake-up only delays deliveries,
// and is reported as lateness. A link's delay is what makes up for the time
// between a frame's stamp and its discovery: with none, arrivals that are
// seen late are moved, and counted as clamped.
//
// This is the only place in the switch with sockets, a goroutine and a clock.
package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/event"
	"aqmlab/switch/fabric"
)

// Config says where a switch is attached and how its loop runs.
type Config struct {
	Ports []PortConfig // in the order of the fabric's hosts
	MTU   int          // of all ports, in network-layer bytes
	CPU   int          // that the loop's thread is pinned to; negative: none
	// Spin is how long before an event, and after an arrival, the loop spins
	// instead of sleeping: sleeping saves a CPU, waking up takes tens of
	// microseconds. Zero never spins.
	Spin time.Duration
}

// PortConfig is one interface towards a host.
type PortConfig struct {
	Interface string
	MAC       net.HardwareAddr // of the interface: the host's gateway
	Host      net.HardwareAddr // of the host
}

// DefaultSpin covers the time in which a sleeping thread wakes up.
const DefaultSpin = 50 * time.Microsecond

// Switch is a set of open interfaces, on which one fabric at a time runs.
type Switch struct {
	config Config
	ports  []nic
}

// nic is an open interface and the Ethernet header of the frames that leave by
// it.
type nic struct {
	*ring
	header [12]byte // destination and source address
}

// Open opens the interfaces of the configuration in the calling thread's
// network namespace.
func Open(c Config) (*Switch, error) {
	s := &Switch{config: c}
	for _, p := range c.Ports {
		r, err := openRing(p.Interface, c.MTU)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("opening the switch: %w", err), s.Close())
		}
		n := nic{ring: r}
		copy(n.header[:6], p.Host)
		copy(n.header[6:], p.MAC)
		s.ports = append(s.ports, n)
	}
	return s, nil
}

// Close closes the interfaces. The switch must not be running.
func (s *Switch) Close() error {
	var errs []error
	for _, p := range s.ports {
		errs = append(errs, p.close())
	}
	s.ports = nil
	return errors.Join(errs...)
}

// Collector is attached to a fabric before it runs and arms timers of its own
// on the loop.
type Collector interface {
	Attach(loop *event.Loop, network *fabric.Network)
}

// Run runs the fabric of spec until ctx is done, with lab time starting at the
// call and running dilation (1 or more) times slower than the wall clock.
// Frames that came in before the call are thrown away. Call it on a goroutine
// of its own that ends afterwards: its thread is changed for good.
func (s *Switch) Run(ctx context.Context, spec fabric.Spec, dilation float64, collectors ...Collector) (Report, error) {
	if len(spec.Hosts) != len(s.ports) {
		return Report{}, fmt.Errorf("running the switch: the fabric has %d hosts, the switch %d interfaces", len(spec.Hosts), len(s.ports))
	}
	if dilation < 1 {
		return Report{}, fmt.Errorf("running the switch: dilation %v is below 1", dilation)
	}
	d := newDriver(s, dilation)
	var err error
	if d.network, err = fabric.New(&d.loop, spec, d, d.pool.Put); err != nil {
		return Report{}, fmt.Errorf("running the switch: %w", err)
	}
	for _, c := range collectors {
		c.Attach(&d.loop, d.network)
	}
	restore, err := s.takeThread()
	if err != nil {
		return Report{}, fmt.Errorf("running the switch: %w", err)
	}
	defer restore()
	if err := d.start(); err != nil {
		return Report{}, fmt.Errorf("running the switch: %w", err)
	}
	d.run(ctx.Done())
	return d.report()
}

// gcLimit is the heap size at which garbage is collected during a run after
// all: a collection stops the loop for milliseconds, so there is none below.
const gcLimit = 2 << 30

// takeThread makes the calling thread the loop's own: locked, pinned, with the
// highest ordinary priority, woken without timer slack, and free of garbage
// collection. Only the thread gets the priority: given to the whole process it
// would let the collector starve the hosts. No real-time class: the kernel
// stops a spinning real-time thread for 50 ms every second.
func (s *Switch) takeThread() (restore func(), err error) {
	runtime.LockOSThread()
	if s.config.CPU >= 0 {
		var one unix.CPUSet
		one.Set(s.config.CPU)
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			return nil, fmt.Errorf("pinning the switch to CPU %d: %w", s.config.CPU, err)
		}
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -20); err != nil {
		return nil, fmt.Errorf("raising the switch thread's priority: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("setting the timer slack: %w", err)
	}
	runtime.GC() // what the last run left
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(gcLimit)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
		// The thread is not unlocked, so it ends with its goroutine and
		// nothing else runs with its priority.
	}, nil
}
