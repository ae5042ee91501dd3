package role

import (
	"errors"
	"time"

	"aqmlab/collectors"
	"aqmlab/orchestrator/agent"
	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
)

// What may be done to a switch while it runs, for labs that stay up.

var errNotLive = errors.New("the switch does not count for anybody to look")

// Look looks at the running fabric.
func (s *Switch) Look(_ agent.Nothing, look *collectors.Look) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.session == nil:
		return errNotRunning
	case s.live == nil:
		return errNotLive
	}
	return s.session.Do(func(now time.Duration, _ *fabric.Network) { *look = s.live.Look(now) })
}

// Change has all ports of the running fabric go on as spec says, see
// [fabric.Network.Change].
func (s *Switch) Change(spec port.Spec, _ *agent.Nothing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return errNotRunning
	}
	change, err := s.session.Network().Change(spec)
	if err != nil {
		return err
	}
	return s.session.Do(func(now time.Duration, _ *fabric.Network) { change(now) })
}

// Course is a timeline, and when it begins.
type Course struct {
	Timeline fabric.Timeline
	Zero     int64 // its time zero, of CLOCK_MONOTONIC in nanoseconds; it may be over
}

// Follow has the running fabric follow another timeline, see [fabric.Network.Follow].
func (s *Switch) Follow(c Course, _ *agent.Nothing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return errNotRunning
	}
	begin, err := s.session.Network().Follow(c.Timeline)
	if err != nil {
		return err
	}
	zero := s.session.LabTime(c.Zero)
	return s.session.Do(func(time.Duration, *fabric.Network) { begin(zero) })
}
