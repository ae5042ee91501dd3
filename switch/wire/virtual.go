//go:build linux

package wire

import (
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/switch/fabric"
	"aqmlab/units"
)

// In virtual time a turn of the loop costs tens of microseconds of the machine's time
// and none of the lab's, so turns should be few. A packet that a host sends now changes
// nothing before it has crossed its link. The fabric may therefore run ahead by that
// long before the loop looks at the rings again. The kernel keeps the frames that are
// delivered meanwhile until their time. This is conservative synchronisation, with the
// links' delay as its lookahead: no event runs before all that it depends on is known,
// and everything happens at the same lab time as if the loop turned for each packet.

// runAhead is the loop on a virtual clock.
func (d *driver) runAhead(done <-chan struct{}) {
	for {
		r := d.clock.readVirtual()
		until := r.lab + d.ahead
		d.doTask()
		frames := 0
		for i := range d.inlets {
			frames += d.drain(r, &d.inlets[i])
		}
		next, pending := d.loop.Next()
		due := pending && next <= until
		d.loop.RunUntil(until)
		d.flush()
		select {
		case <-done:
			return
		default:
		}
		if d.ahead > 0 && (frames > 0 || due) {
			d.sleep(until)
		} else {
			d.poll(r.lab)
		}
	}
}

// lookahead is how far a fabric may run ahead: at most the time in which all hosts
// together send a quarter of a ring of so many bytes. A slot is at most about twice as
// large as a full frame, so what hosts send of these never fills more than half of it.
func lookahead(n *fabric.Network, spec fabric.Spec, ring int) time.Duration {
	var all units.Rate
	for i := range spec.Hosts {
		all += spec.FastestUplink(i)
	}
	return min(n.Lookahead(), all.Time(ring/4))
}

// drain gives all frames of one ring to the fabric.
func (d *driver) drain(r reading, in *inlet) int {
	frames := 0
	for n := burst; n == burst; frames += n {
		n = d.receive(r, in)
	}
	return frames
}

// sleep returns when it is that lab time, and at once if it was.
func (d *driver) sleep(until time.Duration) {
	wake := unix.NsecToTimespec(d.tally.start + int64(until))
	// A signal that cuts the sleep short makes one more turn.
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &wake, nil)
}
