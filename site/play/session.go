package play

import (
	"context"
	"fmt"
	"iter"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/simulated"
	"aqmlab/results"
	"aqmlab/sim"
	"aqmlab/trafficgen/traffic"
)

// Session is the two schemes of an [Ask] while they run. It has no goroutines.
type Session struct {
	lab   *labs.Lab
	span  time.Duration // lab time in which flows start
	sides [2]*side
}

// side is one of the two simulations.
type side struct {
	results.Coord
	sim   *sim.Simulation
	next  func() (sim.Progress, error, bool) // runs the next slice; false: it is over
	stop  func()
	at    sim.Progress
	over  bool
	told  int // samples of senders that frames have had
	point results.Point
}

// Open readies a session. Errors say what of the ask does not fit.
func Open(ask Ask) (*Session, error) {
	lab, err := ask.lab()
	if err != nil {
		return nil, err
	}
	s := &Session{lab: lab}
	for i, scheme := range lab.Schemes {
		at := results.Coord{Scheme: scheme.Name, Load: lab.Workload.Load[0], Seed: lab.Seeds[0]}
		c, err := simulated.Config(lab, at.Scheme, at.Load, at.Seed)
		if err != nil {
			return nil, err
		}
		if c.Senders == 0 {
			c.Senders = sparse * c.Sample
		}
		s.span = max(s.span, traffic.End(c.Flows))
		if s.sides[i], err = begin(at, c); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// sparse is how many samples of a queue come to one of the senders, of which there are
// more.
const sparse = 5

// begin readies a simulation that is run slice by slice.
func begin(at results.Coord, c sim.Config) (*side, error) {
	simulation, err := sim.New(c)
	if err != nil {
		return nil, err
	}
	d := &side{Coord: at, sim: simulation}
	d.next, d.stop = iter.Pull2(func(yield func(sim.Progress, error) bool) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		err := simulation.Run(ctx, func(p sim.Progress) {
			if ctx.Err() == nil && !yield(p, nil) {
				cancel()
			}
		})
		if err != nil && ctx.Err() == nil {
			yield(sim.Progress{}, err)
		}
	})
	return d, nil
}

// File is the lab as a file, which the command runs to the same figures.
func (s *Session) File() (string, error) {
	text, err := s.lab.YAML()
	return string(text), err
}

// Step runs a slice of the scheme that is behind in lab time, and tells whether more is to
// come.
func (s *Session) Step() (more bool, err error) {
	d := s.sides[0]
	if other := s.sides[1]; d.over || !other.over && other.at.Now < d.at.Now {
		d = other
	}
	if d.over {
		return false, nil
	}
	at, err, going := d.next()
	if err != nil {
		return false, fmt.Errorf("running %v: %w", d.Coord, err)
	}
	if going {
		d.at = at
		return true, nil
	}
	d.over, d.point = true, simulated.PointOf(d.Coord, d.sim.Outcome())
	return !s.sides[0].over || !s.sides[1].over, nil
}

// Close gives up what has not run.
func (s *Session) Close() {
	for _, d := range s.sides {
		d.stop()
	}
}
