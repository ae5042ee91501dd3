//go:build linux

package wire

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"aqmlab/switch/event"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/times"
)

// driver advances one fabric along the wall clock, or along a virtual one.
type driver struct {
	clock   clock
	loop    event.Loop
	network *fabric.Network
	pool    *packet.Pool
	ports   []nic
	inlets  []inlet
	hosts   []int       // that ports lead to; the rest of the ports lead to trunks
	trunks  []int       // by their number in the spec
	portTo  []int       // the port of each host
	trunkTo map[int]int // the port of each trunk
	fds     []unix.PollFd
	spin    time.Duration
	active  time.Duration // lab time of the last arrival or event
	heard   time.Duration // lab time of the last arrival
	polling polling
	urgency urgency
	out     *outbox
	virtual bool          // the clock stands still while anything runs
	ahead   time.Duration // of a virtual clock: how far ahead of the hosts the fabric runs
	tally   tally
	tasks   chan func() // to be done between two turns
}

var _ fabric.Edge = (*driver)(nil)

// Bounds of one turn of the loop.
const (
	burst   = 64                    // frames taken from one ring before the next one's turn
	maxIdle = 10 * time.Millisecond // wall time after which an idle loop looks whether to stop
)

func newDriver(s *Switch, dilation float64) *driver {
	d := &driver{
		clock:   clock{dilation: dilation},
		pool:    packet.NewPool(s.inlets[0].size),
		ports:   s.ports,
		inlets:  s.inlets,
		spin:    s.config.Spin,
		polling: polling{most: s.config.Poll, waited: func() time.Duration { _, waited := threadTimes(); return waited }},
		out:     s.out,
		virtual: s.config.Virtual,
		tally:   tally{lateness: times.New(10)},
		tasks:   make(chan func(), 1),
	}
	if d.spin > 0 && s.config.CPU >= 0 { // it has a CPU of its own
		d.urgency.set = setRealTime
	}
	for _, in := range s.inlets {
		d.fds = append(d.fds, unix.PollFd{Fd: int32(in.fd), Events: unix.POLLIN})
	}
	return d
}

// assign says what the ports lead to.
func (d *driver) assign(spec fabric.Spec) {
	d.hosts, d.trunks = spec.Edges()
	d.portTo, d.trunkTo = make([]int, len(spec.Hosts)), map[int]int{}
	for i, host := range d.hosts {
		d.portTo[host] = i
	}
	for i, trunk := range d.trunks {
		d.trunkTo[trunk] = len(d.hosts) + i
	}
}

// start has the rings take frames, which are none yet, and sets lab time zero.
func (d *driver) start() error {
	for _, p := range d.ports {
		p.steering.begin()
	}
	for _, in := range d.inlets {
		if err := in.refuse(false); err != nil {
			return err
		}
		for f, ok := in.peek(); ok; f, ok = in.peek() {
			in.pop(f)
		}
		before, err := in.lost()
		if err != nil {
			return err
		}
		d.tally.lostBefore += before
	}
	var mono unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono); err != nil {
		return fmt.Errorf("reading the clock: %w", err)
	}
	if !d.virtual { // else to read them would take time
		d.tally.ran, d.tally.waited = threadTimes()
		d.polling.before = d.tally.waited
	}
	d.urgency.become(d.urgency.set != nil)
	d.clock.start = time.Now()
	d.tally.start = mono.Nano()
	return nil
}

// end leaves the interfaces to others.
func (d *driver) end() error {
	var errs []error
	for _, p := range d.ports {
		p.steering.become(false)
	}
	for _, in := range d.inlets {
		errs = append(errs, in.refuse(true))
	}
	return errors.Join(errs...)
}

// run is the loop on the wall clock: frames in, events that are due, wait.
func (d *driver) run(done <-chan struct{}) {
	for {
		r := d.clock.read()
		wall := d.clock.wall(r.lab)
		d.polling.turn(wall)
		d.urgency.turn(time.Duration(d.tally.start) + wall)
		d.doTask()
		frames := 0
		for i := range d.inlets {
			frames += d.receive(r, &d.inlets[i])
		}
		until := r.lab
		if frames > 0 { // some of which may have come in since
			until = d.clock.now()
			d.heard = until
		}
		next, pending := d.loop.Next()
		due := pending && next <= until
		d.loop.RunUntil(until)
		d.flush()
		if frames > 0 || due {
			d.active = r.lab
			d.urgency.stir()
			d.tally.busy += d.clock.wall(d.clock.now() - r.lab)
			continue
		}
		select {
		case <-done:
			return
		default:
			d.wait(r.lab)
		}
	}
}

// doTask does what was given to do between two turns, if anything was.
func (d *driver) doTask() {
	select {
	case task := <-d.tasks:
		task()
	default:
	}
}

// receive gives the frames of one ring to the fabric.
func (d *driver) receive(r reading, in *inlet) int {
	for n := range burst {
		f, ok := in.peek()
		if !ok {
			return n
		}
		from := in.portOf(f)
		if from < 0 {
			in.pop(f)
			continue
		}
		k := d.pool.Get()
		k.Frame = f.appendTo(k.Frame)
		at, usable := d.clock.stamped(r, f.stamp()), f.usable()
		in.pop(f)
		if !usable || !d.address(k) {
			d.tally.ignored++
			d.pool.Put(k)
			continue
		}
		d.enter(at, from, k)
	}
	return burst
}

// enter gives the network a packet that came in by a port.
func (d *driver) enter(at time.Duration, from int, k *packet.Packet) {
	if from < len(d.hosts) {
		k.Src = int32(d.hosts[from])
		d.network.Send(at, d.hosts[from], k)
		return
	}
	k.Src = -1 // nothing in a switch asks where a packet began
	d.network.Arrive(at, d.trunks[from-len(d.hosts)], k)
}

// address reads the headers of k and finds its destination.
func (d *driver) address(k *packet.Packet) bool {
	addrs, err := k.Parse()
	if err != nil {
		return false
	}
	d.network.Recode(k, addrs.Src)
	dst, ok := d.network.Host(addrs.Dst)
	k.Dst = int32(dst)
	return ok
}

// Deliver sends a packet to its host.
func (d *driver) Deliver(now time.Duration, host int, k *packet.Packet) {
	d.leave(now, d.portTo[host], k)
}

// beyond sends a packet on its way to a switch that the network does not carry.
func (d *driver) beyond(now time.Duration, trunk int, k *packet.Packet) {
	d.leave(now, d.trunkTo[trunk], k)
}

// leave has a packet sent by a port, together with what else is due now.
func (d *driver) leave(now time.Duration, by int, k *packet.Packet) {
	copy(k.Frame, d.ports[by].header[:])
	if d.out.full() {
		d.flush()
	}
	d.out.add(k, by, now, d.tally.start)
}

// flush sends what is in the outbox, and notes how late that is.
func (d *driver) flush() {
	n := len(d.out.packets)
	if n == 0 {
		return
	}
	begun := d.clock.now()
	for _, by := range d.out.by {
		d.ports[by].steering.sending(d.clock.wall(begun))
	}
	d.tally.unsent += d.out.send()
	var each time.Duration // that a frame took
	if n > 1 && !d.virtual {
		each = (d.clock.now() - begun) / time.Duration(n)
	}
	for i, due := range d.out.due {
		d.tally.lateness.Note(begun + time.Duration(i)*each - due)
	}
	d.out.clear(d.pool)
}

// wait sleeps until a frame arrives or an event comes near, and returns at
// once while spinning or polling is due.
func (d *driver) wait(now time.Duration) {
	idle := d.clock.wall(now - d.active)
	polls := d.polling.polls(d.clock.wall(now), d.clock.wall(d.heard))
	switch {
	case polls && idle >= politeAfter:
		d.urgency.calm()
		return
	case polls || idle < d.spin:
		d.urgency.rest()
		return
	}
	d.urgency.stir() // who sleeps is to have the CPU as soon as it wakes up
	d.poll(now)
	d.urgency.slept += d.clock.wall(d.clock.now() - now)
}

// poll sleeps until a frame arrives or the next event is as close as the time
// for which to spin.
func (d *driver) poll(now time.Duration) {
	sleep := maxIdle
	if next, ok := d.loop.Next(); ok {
		sleep = min(sleep, d.clock.wall(next-now)-d.spin)
	}
	if sleep <= 0 {
		return
	}
	timeout := unix.NsecToTimespec(int64(sleep))
	for i := range d.fds {
		d.fds[i].Revents = 0
	}
	// Not a raw call: other goroutines of the process may use the processor
	// meanwhile. Its errors (a signal) only cut the sleep short.
	_, _, _ = unix.Syscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&d.fds[0])), uintptr(len(d.fds)), uintptr(unsafe.Pointer(&timeout)), 0, 0, 0)
}

// clock maps between the wall clock and lab time, which runs dilation times
// slower.
type clock struct {
	start    time.Time // lab time zero
	dilation float64
}

// reading is one look at the wall clock.
type reading struct {
	lab    time.Duration
	offset int64 // real-time clock minus time since start, for the kernel's stamps
}

// read looks at the monotonic and the real-time clock at once. The offset is
// taken anew each time because the real-time clock may be stepped or slewed.
func (c *clock) read() reading {
	t := time.Now()
	since := t.Sub(c.start)
	return reading{c.lab(since), t.UnixNano() - int64(since)}
}

// now is the lab time.
func (c *clock) now() time.Duration {
	return c.lab(time.Since(c.start))
}

// readVirtual reads a virtual clock. Nobody sets such a clock, so the offset is still
// that of the start, and one system call is enough. In a guest it is a slow one.
func (c *clock) readVirtual() reading {
	return reading{c.now(), c.start.UnixNano()}
}

// stamped is the lab time of a kernel timestamp.
func (c *clock) stamped(r reading, stamp int64) time.Duration {
	return c.lab(time.Duration(stamp - r.offset))
}

func (c *clock) lab(wall time.Duration) time.Duration {
	return time.Duration(float64(wall) / c.dilation)
}

func (c *clock) wall(lab time.Duration) time.Duration {
	return time.Duration(float64(lab) * c.dilation)
}
