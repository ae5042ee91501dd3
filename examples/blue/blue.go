package main

import (
	"math/rand/v2"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// Blue marks arriving packets with one probability for the whole port. It
// learns the probability from events: up when the port holds more than a limit,
// down when the link falls idle, and at most once in a freeze time (BLUE, Feng
// et al., IEEE/ACM Transactions on Networking 10(4), 2002).
type Blue struct {
	Limit  units.Size    `lab:"limit" doc:"bytes in the port above which the probability rises"`
	Freeze time.Duration `lab:"freeze" range:"0s..100h" doc:"shortest time between two changes of the probability"`
	Up     float64       `lab:"up" range:"(0, 1]" doc:"added to the probability"`
	Down   float64       `lab:"down" range:"(0, 1]" doc:"taken off the probability"`
}

// row is what the program adds to the table of schemes: a name, one line of
// documentation, the defaults, the constructor.
func row() aqm.Kind {
	return kind.Row("blue", "mark on arrival with a probability that rises on overload and falls on idleness",
		Blue{Limit: 30 * units.KB, Freeze: 10 * time.Millisecond, Up: 0.02, Down: 0.002}, newBlue).Noting(aqm.NotECTPasses)
}

type blue struct {
	Blue
	rng     *rand.Rand
	p       float64
	changed time.Duration
}

var _ aqm.Scheme = (*blue)(nil)

func newBlue(p Blue, env aqm.Env) (aqm.Scheme, error) {
	return &blue{Blue: p, rng: env.Rand}, nil
}

// Arrive marks, and sees the overload.
func (s *blue) Arrive(now time.Duration, _ *packet.Packet, v aqm.View) aqm.Verdict {
	if v.PortBytes > int(s.Limit) {
		s.change(now, s.Up)
	}
	if s.rng.Float64() < s.p {
		return aqm.Mark
	}
	return aqm.Pass
}

// Depart sees the link fall idle: nothing is left behind the packet.
func (s *blue) Depart(now time.Duration, _ *packet.Packet, v aqm.View) aqm.Verdict {
	if v.PortBytes == 0 {
		s.change(now, -s.Down)
	}
	return aqm.Pass
}

func (s *blue) change(now time.Duration, by float64) {
	if now-s.changed > s.Freeze {
		s.p, s.changed = min(max(s.p+by, 0), 1), now
	}
}
