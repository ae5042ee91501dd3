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
	"errors"
	"fmt"
	"math"
	"net"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
)

// Config says where a switch is attached and how its loop runs.
type Config struct {
	Ports []PortConfig // in the order of the hosts that the fabric ends at
	// Trunks are the interfaces towards switches that the fabric does not carry, in
	// the order of the links.
	Trunks []PortConfig
	MTU    int // of all ports, in network-layer bytes
	CPU    int // that the loop's thread is pinned to; negative: none
	// Spin is how long before an event, and after an arrival, the loop spins
	// instead of sleeping: sleeping saves a CPU, waking up takes tens of
	// microseconds. Zero never spins.
	Spin time.Duration
	// Poll is how long after the last frame the loop does not sleep at all, as long as
	// no other program wants its CPU. Zero: it sleeps as Spin says.
	Poll time.Duration
	// Virtual says that the clock stands still while anything runs. Nothing is ever
	// late then, and collecting garbage takes no time. Spin must be zero, because
	// spinning would never end. The interfaces must have a queueing discipline that
	// keeps frames until their time (SO_TXTIME), as fq does.
	Virtual bool
	// Stays says that sessions run for as long as somebody likes, and are looked at
	// meanwhile: what that leaves in memory is collected at once, which stops the loop
	// for some tens of microseconds. Otherwise it is collected when the session ends.
	Stays bool
}

// PortConfig is one interface towards a host, or towards another switch.
type PortConfig struct {
	Interface string
	MAC       net.HardwareAddr // of the interface: the host's gateway
	Far       net.HardwareAddr // of the host, or of the other switch's end
}

// DefaultSpin covers the time in which a sleeping thread wakes up.
const DefaultSpin = 50 * time.Microsecond

// Forever is for [Config]: the loop polls for as long as a session runs.
const Forever time.Duration = math.MaxInt64

// Switch is a set of open interfaces, on which one fabric at a time runs.
type Switch struct {
	config Config
	kinds  port.Kinds
	ports  []nic   // those of the configuration, trunks last
	inlets []inlet // what the ports' frames come in by
	out    *outbox // nil before it is open
}

// nic is an open interface and the Ethernet header of the frames that leave by
// it.
type nic struct {
	header   [12]byte  // destination and source address
	steering *steering // never nil
}

// Open opens the interfaces of the configuration in the calling thread's
// network namespace. The ports of what it runs are built of kinds.
func Open(c Config, kinds port.Kinds) (*Switch, error) {
	s := &Switch{config: c, kinds: kinds}
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the switch: %w", err), s.Close())
	}
	return s, nil
}

func (s *Switch) open() error {
	c := s.config
	if c.Virtual && (c.Spin != 0 || c.Poll != 0) {
		return fmt.Errorf("it cannot spin for %v, or poll for %v, in virtual time", c.Spin, c.Poll)
	}
	if c.Virtual && len(c.Trunks) > 0 {
		return errors.New("in virtual time it carries all of its fabric, and has no trunks")
	}
	all := slices.Concat(c.Ports, c.Trunks)
	indices, err := find(all)
	if err != nil {
		return err
	}
	for _, p := range all {
		n := nic{steering: &steering{}}
		copy(n.header[:6], p.Far)
		copy(n.header[6:], p.MAC)
		s.ports = append(s.ports, n)
	}
	if c.Virtual {
		err = s.openTogether(indices)
	} else {
		err = s.openEach(all, indices)
	}
	if err != nil {
		return err
	}
	s.out = newOutbox(indices, c.together())
	return s.out.open(c.Virtual)
}

// together is the most frames that wait for each other before they are sent. On the wall
// clock each makes the first one late by a third of a microsecond, in virtual time none does.
func (c Config) together() int {
	if c.Virtual {
		return 256
	}
	return 32
}

// find returns the indices of the ports' interfaces. It asks the kernel once: a
// look for one by its name lists them all.
func find(ports []PortConfig) ([]int, error) {
	there, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("listing interfaces: %w", err)
	}
	byName := make(map[string]int, len(there))
	for _, i := range there {
		byName[i.Name] = i.Index
	}
	indices := make([]int, len(ports))
	for i, p := range ports {
		index, ok := byName[p.Interface]
		if !ok {
			return nil, fmt.Errorf("interface %s: no such interface", p.Interface)
		}
		indices[i] = index
	}
	return indices, nil
}

// Close closes the interfaces. No session may be running.
func (s *Switch) Close() error {
	var fds []int
	if s.out != nil {
		fds = s.out.sockets()
	}
	err := each(len(s.inlets)+len(fds), func(i int) error {
		if i < len(s.inlets) {
			return s.inlets[i].close()
		}
		return unix.Close(fds[i-len(s.inlets)])
	})
	s.ports, s.inlets, s.out = nil, nil, nil
	return err
}

// each does n things at once: making and closing a packet socket waits for the kernel's
// readers (an RCU grace period), which costs a hundred ports together no more than one.
func each(n int, do func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Session is a fabric that is running.
type Session struct {
	driver *driver
	stays  bool // see [Config]
	stop   chan struct{}
	done   chan struct{} // closed when the loop has ended
	report Report
	err    error
}

// Start runs the fabric of spec, with lab time starting now and running
// dilation (1 or more) times slower than the wall clock, until the session is
// stopped. Frames that came in before are thrown away. One session at a time
// runs on a switch.
func (s *Switch) Start(spec fabric.Spec, dilation float64, collectors ...fabric.Collector) (*Session, error) {
	hosts, trunks := spec.Edges()
	if len(hosts) != len(s.config.Ports) || len(trunks) != len(s.config.Trunks) {
		return nil, fmt.Errorf("starting the switch: the fabric ends at %d hosts and %d trunks, the switch has %d and %d interfaces", len(hosts), len(trunks), len(s.config.Ports), len(s.config.Trunks))
	}
	if dilation < 1 {
		return nil, fmt.Errorf("starting the switch: dilation %v is below 1", dilation)
	}
	d := newDriver(s, dilation)
	d.assign(spec)
	var err error
	to := fabric.Attachment{Edge: d, Beyond: d.beyond, Release: d.pool.Put, Kinds: s.kinds}
	if d.network, err = fabric.New(&d.loop, spec, to); err != nil {
		return nil, fmt.Errorf("starting the switch: %w", err)
	}
	if s.config.Virtual {
		d.ahead = lookahead(d.network, spec, s.config.ringBytes())
	}
	for _, c := range collectors {
		c.Attach(&d.loop, d.network)
	}
	session := &Session{driver: d, stays: s.config.Stays, stop: make(chan struct{}), done: make(chan struct{})}
	started := make(chan error)
	go session.run(s.config.CPU, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting the switch: %w", err)
	}
	return session, nil
}

// Begin begins the timeline of the session's fabric, see [fabric.Network.Begin]. Its time
// zero is in nanoseconds of CLOCK_MONOTONIC, so far ahead that the session has [Notice] to
// learn of it. It is called once.
func (s *Session) Begin(zero int64) {
	lab := s.LabTime(zero)
	s.driver.tasks <- func() { s.driver.network.Begin(lab) }
}

// LabTime is the lab time of a time of CLOCK_MONOTONIC in nanoseconds.
func (s *Session) LabTime(monotonic int64) time.Duration {
	return s.driver.clock.lab(time.Duration(monotonic - s.driver.tally.start))
}

// errEnded is the error of a session that is over.
var errEnded = errors.New("the switch has stopped")

// Do has the session's loop call f between two of its turns, with the lab time, and waits
// until it has. While f runs the switch does nothing else.
func (s *Session) Do(f func(now time.Duration, n *fabric.Network)) error {
	done := make(chan struct{})
	task := func() {
		f(s.driver.loop.Now(), s.driver.network)
		close(done)
	}
	select {
	case s.driver.tasks <- task:
	case <-s.done:
		return errEnded
	}
	select {
	case <-done:
		return nil
	case <-s.done:
		return errEnded
	}
}

// Network is what the session runs. Only what its methods ready beforehand may be called
// outside of [Session.Do].
func (s *Session) Network() *fabric.Network { return s.driver.network }

// Notice is the wall time in which a session notices that its timeline has begun, beside
// what it runs ahead in virtual time.
const Notice = maxIdle

// Stop ends the session and reports what it measured.
func (s *Session) Stop() (Report, error) {
	close(s.stop)
	<-s.done
	return s.report, s.err
}

// run is the session's goroutine, on a thread that is changed for good and
// ends with it.
func (s *Session) run(cpu int, started chan<- error) {
	defer close(s.done)
	runtime.LockOSThread()
	if err := takeThread(cpu); err != nil {
		started <- err
		return
	}
	if !s.driver.virtual && !s.stays {
		defer deferGarbage()()
	}
	err := s.driver.start()
	started <- err
	if err != nil {
		return
	}
	if s.driver.virtual {
		s.driver.runAhead(s.stop)
	} else {
		s.driver.run(s.stop)
	}
	s.driver.network.Empty()
	s.report, s.err = s.driver.report()
	s.err = errors.Join(s.err, s.driver.end())
}

// deferGarbage turns garbage collection off, as far as memory allows, until the
// function that it returns is called.
func deferGarbage() (resume func()) {
	runtime.GC() // what the last session left
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(gcLimit)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// gcLimit is the heap size above which garbage is collected even during a session.
// A collection stops the loop for milliseconds.
const gcLimit = 2 << 30

// takeThread removes the calling thread's timer slack, and gives it a CPU and
// priority there.
func takeThread(cpu int) error {
	if cpu >= 0 {
		if err := takeCPU(cpu); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting the timer slack: %w", err)
	}
	return nil
}
