//go:build linux

package wire

import "time"

const (
	nearAfter = 10 * time.Millisecond  // of silence: what was sent before has been received
	soon      = 250 * time.Microsecond // between two frames of traffic that is worth a hand-over
	fewFrames = 8                      // of it, one soon after the other, that are not
)

// steering chooses the CPU that runs the receiving stack of the host at a port. To hand
// frames over to the hosts' CPUs keeps the loop on time under load, and the stack of a
// busy host off its CPU. But it takes an interrupt of the other CPU, in a virtual machine
// 10 us of the way of a packet. So frames that come alone are received on the loop's own
// CPU, within its system call.
type steering struct {
	set   func(near bool) error // chooses the loop's CPU, or the hosts'; nil: it is always the hosts'
	near  bool
	last  time.Duration // wall time of the frame before
	dense int           // frames since the last pause
}

// begin is told that a session begins, before which nothing was sent for a while.
func (s *steering) begin() { s.last, s.dense = -nearAfter, 0 }

// sending is told the wall time, since then, of each frame that is about to be sent. Frames are never
// received in another order: those of the loop's CPU were when it comes to the next one,
// and there is a pause after those that were handed over.
func (s *steering) sending(now time.Duration) {
	if s.set == nil {
		return
	}
	gap := now - s.last
	s.last = now
	switch {
	case !s.near && gap >= nearAfter:
		s.dense = 0
		s.become(true)
	case gap >= soon:
		s.dense = 0
	case s.near:
		if s.dense++; s.dense >= fewFrames {
			s.become(false)
		}
	}
}

// become changes the CPU, or gives up where that cannot be done.
func (s *steering) become(near bool) {
	if s.set == nil || s.near == near {
		return
	}
	if s.set(near) != nil {
		s.set = nil
		return
	}
	s.near = near
}

// SteerReceive lets the switch choose the CPU that runs the receiving stack of the host at
// a port while a session runs: set makes it that of the switch's thread (near), or those
// of the hosts, which it is before and after. It is called before any session is started.
func (s *Switch) SteerReceive(port int, set func(near bool) error) {
	s.ports[port].steering = &steering{set: set}
}
